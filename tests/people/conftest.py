"""What tests of people's tools share: a shop in a folder, and a mark for all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent
collect_ignore = ["dialect"]  # SQLAlchemy's own suite: test_dialect_suite.py runs it
POLICY = """
[[protect]]
table = "customer"
key = ["id"]

[[link]]
table = "orders"
column = ["customer"]
to = "customer"

[[domain]]
table = "orders"
column = "kind"
values = ["book", "food"]

[columns.customer]
id = "BIGINT"

[columns.orders]
customer = "BIGINT"
kind = "VARCHAR"

[budget]
epsilon = 50
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.people)


@pytest.fixture(scope="module")
def shop(tmp_path_factory) -> Path:
    """Return a folder with the shop's data and `shop.toml` in it."""
    folder = tmp_path_factory.mktemp("people")
    (folder / "shop").mkdir()
    (folder / "shop.toml").write_text(POLICY)
    (folder / "shop/customer.csv").write_text("id\n" + "".join(f"{n}\n" for n in range(500)))
    kinds = ("book", "food", "food")
    rows = "".join(f"{n * n % 500},{kinds[n % 3]}\n" for n in range(1500))
    (folder / "shop/orders.csv").write_text("customer,kind\n" + rows)
    return folder
