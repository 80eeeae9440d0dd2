"""The tutorial's thirty questions have the same answers in a notebook, through SQLAlchemy, on the line."""

from __future__ import annotations

import json
import runpy
from decimal import Decimal

import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import registry

import recuse
from recuse.cli.app import app
from recuse.lab.experiments.everyday import questions
from recuse.magic import load_ipython_extension
from support.documents import ROOT, write_files

registry.register("recuse", "recuse.dbapi.dialect", "RecuseDialect")
PAGE = (ROOT / "docs" / "tutorial" / "everyday.md").read_text()
ASKED = questions(PAGE)


class Interpreter:
    """What the magic needs of IPython; tests/people/test_notebook.py has IPython itself."""

    def __init__(self) -> None:
        self.user_ns: dict[str, object] = {}

    def register_magic_function(self, func, magic_kind: str, magic_name: str) -> None:
        self.magic = func


@pytest.fixture(scope="module")
def everyday(tmp_path_factory):
    folder = tmp_path_factory.mktemp("everyday")
    write_files(PAGE, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        runpy.run_path("make_everyday.py")
        (policy,) = folder.glob("*.toml")
        (data,) = [path for path in folder.iterdir() if path.is_dir() or path.suffix == ".duckdb"]
        yield data, policy


def test_there_are_thirty():
    assert len(ASKED) == 30


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: str(asked.number))
def test_a_question_has_one_answer_at_every_door(asked, everyday, capsys):
    data, policy = everyday
    shell = Interpreter()
    load_ipython_extension(shell)
    shell.magic(f"{data} --policy {policy} --epsilon 1")
    before = shell.magic("").spent
    told = shell.magic("", asked.sql)
    shell.magic.session.close()
    engine = sa.create_engine(f"recuse:///{data}?policy={policy}&epsilon=1")
    with engine.connect() as connection:
        rows = connection.execute(sa.text(asked.sql.replace(":", r"\:"))).all()
    engine.dispose()
    words = ["ask", str(data), asked.sql, "--policy", str(policy)]
    app([*words, "--epsilon", "1", "--json"], standalone_mode=False)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    values = [cell.value for row in told for cell in row.cells]
    assert [line["value"] for line in lines] == pytest.approx(list(map(_number, values)))
    assert all(line["stored"] for line in lines)
    assert len(rows) == len(told)
    shown = [float(cell) for row in rows for cell in row if isinstance(cell, int | float | Decimal)]
    for value in values:
        assert value is None or pytest.approx(float(value)) in shown
    with recuse.connect(data, policy) as session:
        assert session.budget.spent == before + told.epsilon == before + 1


def _number(value) -> float | None:
    return None if value is None else float(value)
