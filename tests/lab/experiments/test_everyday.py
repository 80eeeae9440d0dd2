"""The thirty questions of the tutorial: DuckDB answers each, and so does Recuse, the closer the larger ε."""

from __future__ import annotations

from contextlib import closing
from fractions import Fraction

import pytest

from recuse.engines.bare import bare
from recuse.lab.experiments.everyday import EverydayQuestion, make_shop, measure, questions, rows, times
from support.documents import ROOT
from support.profiles import some

PAGE = (ROOT / "docs" / "tutorial" / "everyday.md").read_text()
QUESTIONS = questions(PAGE)
PLENTY = Fraction(1000)


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    return make_shop(PAGE, tmp_path_factory.mktemp("everyday"))


def test_there_are_thirty():
    assert [question.number for question in QUESTIONS] == list(range(1, 31))
    assert len({question.sql for question in QUESTIONS}) == 30


def test_each_finds_something(shop):
    with closing(bare(shop[0], read_only=True)) as connection:
        for question in QUESTIONS:
            found = connection.execute(question.sql).fetchall()
            assert found, question.words
            assert all(row[-1] for row in found), question.words


@pytest.mark.parametrize("question", some(QUESTIONS, 0.3), ids=lambda question: question.number)
def test_an_answer_at_a_large_epsilon_is_the_truth(question, shop):
    found = measure(*shop, question, PLENTY, 1)
    assert found.error <= 0.005 * abs(found.truth) + 0.5


COMPILED, TWICE, NOISY = 0.5, 2.0, 4.0
"""what is promised of an idle machine, in seconds and as a ratio, and how much slower a busy one may be"""


@pytest.mark.parametrize("question", some(QUESTIONS, 0.2), ids=lambda question: question.number)
def test_it_is_compiled_at_once_and_read_in_about_the_time_of_the_plain_question(question, shop):
    found = times(*shop, question)
    assert found.compiled <= NOISY * COMPILED
    assert found.read <= NOISY * (TWICE * found.plain + 0.05)


def test_the_table_has_a_line_for_each_and_says_what_is_refused(shop):
    listing = EverydayQuestion(31, "Who are they?", "SELECT id FROM customer")
    heading, _, answered, refused = rows(*shop, [QUESTIONS[6], listing], Fraction(1), 1)
    assert heading.startswith("| | question | truth")
    assert answered.startswith("| 7 | How many of January's customers")
    assert "| refused: " in refused
