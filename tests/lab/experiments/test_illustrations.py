"""The pictures of the guides can be drawn anew, and each stands in a guide."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("matplotlib", reason="pictures need matplotlib")

from recuse.lab.experiments import illustrations

ROOT = Path(__file__).resolve().parents[3]
QUICK = ("truncation", "protection")


@pytest.mark.parametrize("name", [name for name in illustrations.DRAWN if name in QUICK])
def test_a_picture_is_drawn(name, tmp_path):
    illustrations.DRAWN[name](tmp_path)
    (found,) = tmp_path.iterdir()
    assert found.read_bytes().startswith(b"\x89PNG")
    assert (ROOT / "docs" / "images" / found.name).is_file()


@pytest.mark.parametrize(
    "picture", ["answers-by-epsilon", "error-by-epsilon-and-people", "truncation", "edges-or-nodes"]
)
def test_a_picture_stands_in_a_guide(picture):
    pages = [page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*/*.md")]
    assert any(f"images/{picture}.png" in page for page in pages)


def test_the_shop_of_a_picture_answers_with_a_seed():
    frames = illustrations.shop_of(200)
    first, second = (illustrations.asked(frames, "SELECT COUNT(*) FROM orders", "1", seed=3) for _ in "ab")
    assert int(first) == int(second) > 0
