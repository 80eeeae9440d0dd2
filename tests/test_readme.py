"""The README is run: its files are written, its commands executed, and what they print compared."""

from __future__ import annotations

import re
from fractions import Fraction

from recuse.demo import QUESTIONS
from recuse.mechanism.release import Release
from recuse.policy import Policy, Protect
from recuse.session.answer import Answer
from recuse.session.cells import Row
from support.documents import README, ROOT, blocks, masked, performed

PAGE = README.read_text()


def texts(language: str) -> list[str]:
    return [block.text for block in blocks(PAGE, language)]


def test_commands_and_programs_print_what_the_readme_shows(tmp_path):
    asked = []
    for command, shown, told in performed(PAGE, tmp_path):
        assert masked(told, tmp_path) == masked(shown) if shown else told
        asked.append(command)
    assert len(asked) == PAGE.count("\n$ ") + PAGE.count("```python\n")


def test_the_first_example_is_in_the_demo():
    (sql,) = texts("sql")
    assert sql.strip() == QUESTIONS[0].sql
    assert "make demo" in PAGE[:1000]
    assert "make test" in PAGE[:1000]


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", PAGE):
        assert (ROOT / target).exists(), target


def test_the_policy_page_shows_a_policy():
    example, limits = blocks((ROOT / "docs" / "reference" / "policy.md").read_text(), "toml")
    policy = Policy.parse(example.text)
    assert [str(link) for link in policy.links] == ["friendship(a) → person", "friendship(b) → person"]
    Policy(protect=(Protect.rows("friendship", "least(a, b)", "greatest(a, b)"),))
    assert Policy.parse(limits.text).engine.threads == 2


def test_an_answer_prints_for_people():
    (example,) = texts("python")
    shown = re.search(r"# (.*left)", example)[1]
    interval = (Fraction(0), Fraction(12))
    cell = Release(Fraction(4), interval, Fraction(1), Fraction(1, 2), "selective")
    answer = Answer((), ("COUNT(*)",), (Row((), (cell,)),), cell.epsilon, remaining=Fraction(8))
    assert str(answer) == shown
