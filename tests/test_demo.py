"""The demonstration answers three questions, and says that the truth is shown because the data is made."""

from __future__ import annotations

import re

from recuse.demo import QUESTIONS, run_demo


def test_the_demo_answers_its_questions():
    text = "\n".join(run_demo())
    answers = [int(number.replace(",", "")) for number in re.findall(r"private answer\s+([\d,]+)", text)]
    truths = [int(number.replace(",", "")) for number in re.findall(r"true answer\s+([\d,]+)", text)]
    assert len(answers) == len(truths) == len(QUESTIONS) == 3
    assert all(abs(answer - truth) < truth for answer, truth in zip(answers, truths, strict=True))
    assert text.count("only because the data is made") == 3
    assert "3 of 10 epsilon spent" in text
