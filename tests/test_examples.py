"""The examples: what is written can be opened, passes its own check, and its questions are understood."""

from __future__ import annotations

import pytest

import recuse
from recuse.examples import EXAMPLES, write_example
from recuse.policy import Policy
from recuse.session.findings import findings


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_can_be_asked_its_questions(name, tmp_path):
    data, policy, questions = write_example(name, tmp_path)
    assert list(findings(data, Policy.read(policy))) == []
    asked = [text.strip() for text in questions.read_text().split(";") if text.strip()]
    assert asked
    with recuse.connect(data, policy) as session:
        for sql in asked:
            assert session.explain(sql).owners


def test_nothing_is_overwritten(tmp_path):
    write_example("school", tmp_path)
    with pytest.raises(recuse.ParameterError, match="already"):
        write_example("school", tmp_path)
    with pytest.raises(recuse.ParameterError, match="no such example"):
        write_example("zoo", tmp_path)
