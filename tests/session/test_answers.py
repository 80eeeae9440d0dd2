"""Answers: as they print, as a notebook and Arrow see them, as the ledger keeps them."""

from __future__ import annotations

import datetime
import html.parser
import subprocess
import sys
import uuid
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.errors import LedgerError, ParameterError
from recuse.mechanism.release import Release
from recuse.numerals import nearest
from recuse.session.answer import Answer
from recuse.session.cells import Combined, Row
from recuse.session.notes import table_notes
from recuse.session.stored import restored, stored_text
from recuse.session.table import BARS, drawing
from recuse.session.tabular import arrow_table
from support.profiles import examples

fractions = st.fractions(min_value=-(10**30), max_value=10**30, max_denominator=10**6)


@st.composite
def releases(draw) -> Release:
    value, below, above = draw(fractions), draw(fractions), draw(fractions)
    signed = draw(st.booleans())
    if not signed:
        value, below, above = (Fraction(abs(int(x))) for x in (value, below, above))
    interval = (value - abs(below), value + abs(above))
    return Release(value, interval, Fraction(1, 3), Fraction(1, 2), "selective", signed, Fraction(1, 7))


@st.composite
def combined(draw) -> Combined:
    ends = draw(st.tuples(st.none() | fractions, st.none() | fractions))
    return Combined(draw(st.none() | fractions), ends, 0.9, Fraction(1, 3))


KEYS = st.one_of(
    st.text(),
    st.integers(),
    st.booleans(),
    st.floats(allow_nan=False),
    fractions,
    st.decimals(allow_nan=False),
    st.dates(),
    st.datetimes(),
    st.datetimes(timezones=st.just(datetime.UTC)),
    st.times(),
    st.timedeltas(),
    st.binary(),
    st.uuids(),
)


@st.composite
def answers(draw) -> Answer:
    rows = draw(st.lists(st.tuples(KEYS, releases(), combined()), max_size=4))
    return Answer(("k",), ("n", "mean"), tuple(Row((k,), (a, b)) for k, a, b in rows), Fraction(1, 3))


@given(st.lists(st.tuples(KEYS, releases(), releases()), max_size=4))
def test_what_is_stored_is_what_was_released(rows):
    keys, found = [(key,) for key, _, _ in rows], [[one for _, one, _ in rows], [two for _, _, two in rows]]
    groups, again, _ = restored(stored_text(keys, found))
    assert (groups, again) == (keys, found)
    assert [type(key) for (key,) in groups] == [type(key) for (key,) in keys]


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "null", '{"groups": [[1]]}', '{"groups": [], "parts": [[{}]]}', '{"parts": 3}']
)
def test_a_stored_answer_that_cannot_be_read_is_refused(text):
    with pytest.raises(LedgerError, match="cannot be read"):
        restored(text)


@given(releases())
def test_an_interval_is_drawn_on_its_line(release):
    drawn = drawing(release)
    assert len(drawn) == BARS[0]
    assert drawn.count("●") == 1
    assert set(drawn) <= set("·├─┤●")


class Balanced(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_startendtag(self, tag, attrs):
        assert tag in ("path", "circle")

    def handle_starttag(self, tag, attrs):
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@settings(max_examples=examples(30))
@given(answers())
def test_a_notebook_gets_whole_html_and_keys_cannot_break_out(answer):
    numbers = [one(cell) for row in answer for cell in row.cells]
    for shown in (answer, *numbers):
        parser = Balanced()
        parser.feed(shown._repr_html_())
        assert parser.open == []


def test_a_key_is_text_in_a_notebook():
    row = Row(("<script>alert(1)</script>",), (release(4),))
    shown = Answer(("<b>",), ("n",), (row,), Fraction(1))._repr_html_()
    assert "<script>" not in shown
    assert "<b></th>" not in shown
    assert "<svg" in shown


def release(value: int, **more) -> Release:
    ends = (Fraction(value - 2), Fraction(value + 2))
    return Release(Fraction(value), ends, Fraction(1), Fraction(1, 2), "selective", **more)


def one(cell, **more) -> Answer:
    return Answer((), ("n",), (Row((), (cell,)),), cell.epsilon, **more)


def test_a_number_prints_for_people():
    shown = one(release(4), remaining=Fraction(9))
    assert str(shown) == "4 (at least 2 with 97.5 %; noise 2 to 6 with 95 %), epsilon 0.5, 9 left"
    assert repr(shown) == f"<Answer {shown}>"
    again = one(release(4), remaining=Fraction(9), stored=True)
    assert str(again).endswith("noise 2 to 6 with 95 %), epsilon 0.5 (asked before: free), 9 left")
    exact = Release(Fraction(4), (Fraction(4), Fraction(4)), Fraction(0), Fraction(0), "public")
    assert str(one(exact)) == "4 (exact: about nobody), free"
    mean = Combined(Fraction(1, 4), (None, Fraction(1, 2)), 0.9, Fraction(1))
    assert str(one(mean)) == "0.25 (noise unbounded to 0.5 with 90 %), epsilon 1"


@given(releases())
def test_a_number_converts(release):
    answer = one(release)
    assert (Fraction(answer), float(answer), int(answer)) == (
        release.value,
        float(release.value),
        int(release.value),
    )
    assert (answer.value, answer.interval, answer.number) == (release.value, release.interval, release)


def test_a_number_is_formatted_as_one():
    assert f"{one(release(1234567)):,}" == "1,234,567"
    assert f"{one(release(4)):>5}" == "    4"
    assert f"{one(release(4))}" == str(one(release(4)))
    assert bool(one(release(0))), "an answer of zero is an answer"


def test_a_table_is_no_number():
    table = Answer(("k",), ("n",), (Row((1,), (release(4),)),), Fraction(1))
    for use in (float, int, Fraction, lambda table: table.value, lambda table: f"{table:,}"):
        with pytest.raises(ParameterError, match="a table, not one number"):
            use(table)
    undefined = one(Combined(None, (None, None), 0.9, Fraction(1)))
    assert undefined.value is None
    with pytest.raises(ParameterError, match="undefined"):
        float(undefined)


def test_arrow_and_pandas_have_counts_as_integers_and_intervals_beside_them():
    mean = Combined(None, (None, Fraction(7, 2)), 0.9, Fraction(1, 2))
    day = datetime.date(2026, 1, 2)
    sum_ = release(-5, signed=True)
    table = Answer(
        ("day", "x"),
        ("n", "mean", "sum"),
        (Row((day, Fraction(1, 2)), (release(4), mean, sum_)),),
        Fraction(1),
    )
    found = table.to_arrow()
    assert found.column_names == [
        *("day", "x", "n", "n_low", "n_high", "mean", "mean_low", "mean_high"),
        *("sum", "sum_low", "sum_high"),
    ]
    whole = ["int64"] * 3
    assert [str(kind) for kind in found.schema.types] == [
        *("date32[day]", "double", *whole, "double", "double", "double"),
        *whole,
    ]
    assert found.to_pylist()[0] == {
        "day": day,
        "x": 0.5,
        "n": 4,
        "n_low": 2,
        "n_high": 6,
        "mean": None,
        "mean_low": None,
        "mean_high": 3.5,
        "sum": -5,
        "sum_low": -7,
        "sum_high": -3,
    }
    frame = table.to_pandas()
    assert frame["n"].dtype == "int64"
    assert list(frame.columns) == found.column_names


def test_without_pandas_a_frame_is_refused_in_words():
    code = """
import sys
sys.modules["pandas"] = None
from fractions import Fraction
from recuse.errors import ParameterError
from recuse.session.answer import Answer
table = Answer((), (), (), Fraction(1))
table.to_arrow()
try:
    table.to_pandas()
except ParameterError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "a frame needs the package pandas; hint: pip install pandas, or use to_arrow()\n"


def test_numbers_beyond_all_doubles_print_too():
    huge = Fraction(10**400, 3)
    assert nearest(huge) == round(huge)
    assert nearest(Fraction(1, 4)) == 0.25
    table = Answer((), ("n",), (Row((), (release(10**30),)),), Fraction(1))
    assert str(table.to_arrow().schema.types[0]) == "double"


def test_a_table_says_what_its_intervals_are():
    exact = Release(Fraction(4), (Fraction(4), Fraction(4)), Fraction(0), Fraction(0), "public")
    assert list(table_notes(["n"], [Row((), (exact,))])) == ["exact: the question is about nobody"]
    assert list(table_notes(["n"], [])) == ["noise     none: no number is shown"]
    cells = (exact, release(40), release(40, signed=True), release(4))
    assert list(table_notes(["public", "count", "sum", "few"], [Row((), cells)])) == [
        "noise     95 % or 100 %: each interval holds its truncated number",
        "truth     public: exact",
        "truth     count, few: at least the lower end with 97.5 %",
        "truth     sum: unknown, truncation can move it either way",
        "caution   large noise in 1 of 4 numbers: raise epsilon, or ask more broadly",
    ]


def test_uuid_and_decimal_keys_come_back():
    key = uuid.UUID(int=7)
    ((again, number),), *_ = restored(stored_text([(key, Decimal("1.50"))], []))
    assert (again, str(number)) == (key, "1.50")


def test_keys_of_any_size_are_a_column():
    """Edges of a histogram, or keys of 128 bits: the type is the narrowest that holds them all."""
    found = {
        (0, 2**63 - 1): "int64",
        (None, 2**63): "decimal128(38, 0)",
        (-(10**38), Fraction(1, 2)): "double",
        (10**400, None): "double",
        (Fraction(1, 2), 2**70): "double",
    }
    for keys, kind in found.items():
        table = arrow_table(["key"], [], [Row((key,), ()) for key in keys])
        assert str(table.schema.types[0]) == kind, keys
