"""An answer that was carried as JSON is the same answer: every cell, key and note of it."""

from __future__ import annotations

import json

import recuse
from recuse.session.carried import carried, received
from support.shop import make_shop

QUESTIONS = [
    "SELECT COUNT(*) AS n FROM orders",
    "SELECT AVG(price) AS a, SUM(price) / COUNT(*) AS b FROM orders",
    "SELECT COUNT(*) AS n FROM orders WHERE price > (SELECT AVG(price) FROM orders)",
    "SELECT n.name, COUNT(*) AS n FROM customer c JOIN nation n ON c.nation = n.id GROUP BY n.name",
]


def test_every_kind_of_answer_comes_back_as_it_was(tmp_path):
    database, policy = make_shop(tmp_path)
    with recuse.connect(database, policy) as session:
        for sql in QUESTIONS:
            answer = session.ask(sql, "1/10")
            again = received(json.loads(json.dumps(carried(answer))))
            assert again == answer
            assert str(again) == str(answer)
            parts = {name: getattr(answer, name) for name in answer.__match_args__}
            assert received(carried(recuse.Answer(**parts | {"remaining": None}))).remaining is None
