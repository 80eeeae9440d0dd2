"""`recuse init`: what is asked on a terminal, what a sample proposes, and that the draft fits."""

from __future__ import annotations

import re
from contextlib import closing

import pytest

from recuse.cli.interview import Talk, interview
from recuse.engines.open import open_engine
from recuse.engines.propose import contained, proposed
from recuse.policy import Policy
from recuse.session.session import connect
from recuse.sql.draft import draft


@pytest.fixture
def school(tmp_path):
    folder = tmp_path / "school"
    folder.mkdir()
    (folder / "pupil.csv").write_text("id,year\n" + "".join(f"{n},{n % 3}\n" for n in range(9)))
    (folder / "friendship.csv").write_text("a,b\n" + "".join(f"{n},{n * n % 9}\n" for n in range(9)))
    (folder / "city.csv").write_text("code,name\nx,North\ny,South\n")
    return folder


def drafted(folder, answers: dict[str, str]) -> tuple[str, list[str]]:
    """Return the draft of an interview in which questions that hold a word are answered so, others not."""
    said = []

    def ask(question: str, default: str) -> str:
        said.append(question)
        return next((answers.pop(word) for word in list(answers) if word in question), default)

    with closing(open_engine(folder)) as engine:
        catalogue = proposed(engine.catalogue(), folder)
    found = interview(Talk(said.append, ask), catalogue, lambda made, to: tuple(contained(made, folder, to)))
    made = found.catalogue
    assert not answers
    return "\n".join(draft(made, found.protect, typed=made.untyped, public=found.public)), said


def test_an_interview_drafts_a_policy_that_fits(school):
    text, said = drafted(school, {"Is city": "yes", "type wrong": "pupil.year SMALLINT"})
    policy = Policy.parse(text)
    assert [str(link) for link in policy.links] == ["friendship(a) → pupil", "friendship(b) → pupil"]
    assert [entry.table for entry in policy.public] == ["city"]
    assert 'year" = "SMALLINT' in text
    assert "These are left: city" in "\n".join(said)
    with connect(school, policy) as session:
        assert "friendship" in str(session.explain("SELECT COUNT(*) FROM friendship"))


def test_the_draft_says_about_how_large_numbers_are(tmp_path):
    """Rounded, as comments, and of no column that names rows; about 1 is what is taken anyway."""
    (tmp_path / "person.csv").write_text("id\n" + "".join(f"{n}\n" for n in range(1000, 1009)))
    (tmp_path / "buys.csv").write_text(
        "person_id,price,rating\n" + "".join(f"{n},{n}.99,1\n" for n in range(1000, 1009))
    )
    with closing(open_engine(tmp_path)) as engine:
        catalogue = proposed(engine.catalogue(), tmp_path)
    text = "\n".join(draft(catalogue, ["person"], typed=catalogue.untyped))
    assert Policy.parse(text).typical == (), "it comes from rows: nothing is said unless somebody does"
    confirmed = re.sub('(?m)^# (?=\\[\\[typical|table = "buys|column|value)', "", text)
    assert [str(entry) for entry in Policy.parse(confirmed).typical] == ["buys(price) about 1000"]


def test_what_is_not_confirmed_is_left_open(school):
    text, said = drafted(school, {"friendship(a)": "no", "friendship(b)": "no"})
    assert Policy.parse(text).links == ()
    assert '# [[public]]\n# table = "friendship"' in text
    assert "Is friendship about nobody? (yes or no)" in said


def test_a_table_that_is_not_there_and_a_type_that_is_none_are_asked_again(school):
    text, said = drafted(school, {"Who is": "pupils", "type wrong": "nonsense"})
    assert sum("Who is" in question for question in said) == 2
    assert "Write it so: orders.day DATE" in said
    assert Policy.parse(text).protect[0].table == "pupil"


def test_a_sample_is_read_only_if_it_is_allowed(recuse, school, tmp_path):
    _, plain, _ = recuse("init", school, "--protect", "pupil.id")
    assert '"year" = "VARCHAR"' in plain
    out = tmp_path / "school.toml"
    code, _, err = recuse("init", school, "--protect", "pupil", "--public", "city", "--sample", "--out", out)
    assert code == 0
    assert "recuse check" in err
    assert '"year" = "BIGINT"' in out.read_text()
    assert recuse("init", school, "--protect", "pupil", "--sample", "--out", out)[0] == 2
    assert recuse("check", school, "--policy", out)[0] == 2  # of friendship nobody has said whose it is


def test_without_a_terminal_it_must_be_said_who_is_protected(recuse, school):
    code, _, err = recuse("init", school)
    assert code == 2
    assert "who is protected?" in err
