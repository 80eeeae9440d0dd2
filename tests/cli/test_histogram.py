"""`recuse histogram`: bins drawn in characters and files, shares, and what is not understood."""

from __future__ import annotations

import pytest

from support.shop import make_shop


@pytest.fixture
def shop(tmp_path):
    return make_shop(tmp_path)


def test_a_histogram_is_drawn_and_saved(recuse, shop, tmp_path):
    database, policy = shop
    picture = tmp_path / "prices.svg"
    arguments = ["histogram", str(database), "price", "orders", "--policy", str(policy), "--epsilon", "0.5"]
    code, out, err = recuse(*arguments, "--edges", "2,4", "--plot", str(picture))
    assert code == 0, err
    assert [line.split("  ")[0].strip() for line in out.splitlines()[1:4]] == ["up to 2", "2 to 4", "above 4"]
    assert "<svg" in picture.read_text()
    code, out, _ = recuse(*arguments, "--bins", "3", "--between", "0,9", "--cdf")
    assert code == 0
    assert "share" in out.splitlines()[0]
    for wrong in (["--edges", "2,x"], ["--between", "1"], ["--bins", "2", "--between", "0"], []):
        assert recuse(*arguments, *wrong)[0] == 2
