"""A bazaar in which every refusal can be met: odd types, views, a macro, tables that nobody mentions."""

from __future__ import annotations

from functools import cache

import duckdb

from recuse.engines.duckdb import DuckDB
from recuse.policy import Policy
from recuse.sql.catalogue import Catalogue
from support.sql.shop import PROTECTION

SCHEMA = """
CREATE TYPE mood AS ENUM ('low', 'high');
CREATE TABLE customer (
    c_id INTEGER PRIMARY KEY, c_nation INTEGER, c_name VARCHAR, c_mood mood, c_seen TIMESTAMPTZ,
    c_tags VARCHAR[]
);
CREATE TABLE supplier (s_id VARCHAR PRIMARY KEY, s_nation INTEGER);
CREATE TABLE orders (
    o_id BIGINT PRIMARY KEY, o_customer INTEGER, o_date DATE, o_total DECIMAL(9,2), o_at TIMESTAMP
);
CREATE TABLE item (
    i_order BIGINT, i_supplier VARCHAR, i_price DOUBLE, i_count INTEGER, i_tiny DECIMAL(38,30), i_secret BLOB
);
CREATE TABLE edges (src INTEGER, dst INTEGER);
CREATE TABLE gift (g_from INTEGER, g_to INTEGER, g_order BIGINT);
CREATE TABLE nation (n_id INTEGER PRIMARY KEY, n_name VARCHAR);
CREATE TABLE secret (x INTEGER);
CREATE TABLE t (
    a INTEGER, b INTEGER, d DATE, s VARCHAR, m DECIMAL(9,2), e mood, z BLOB, h HUGEINT, g DECIMAL(38,30)
);
CREATE TABLE u (a BIGINT, x INTEGER, m DECIMAL(15,2));
CREATE VIEW big_orders AS SELECT o_id FROM orders;
CREATE VIEW sampled AS SELECT * FROM orders USING SAMPLE 10;
CREATE VIEW old_orders AS SELECT * FROM gift;
CREATE VIEW old_u AS SELECT * FROM u;
CREATE VIEW sampled_u AS SELECT * FROM u USING SAMPLE 10;
ALTER TABLE gift ADD COLUMN g_note VARCHAR;
ALTER TABLE u ADD COLUMN note VARCHAR;
CREATE MACRO twice(x) AS 2 * x;
INSERT INTO nation VALUES (1, 'here'), (2, 'there');
INSERT INTO customer SELECT i, i % 3, chr((97 + i % 5)::INTEGER), NULL, NULL, NULL FROM range(40) r(i);
INSERT INTO supplier SELECT 's' || i, i % 3 FROM range(5) r(i);
INSERT INTO orders SELECT i, i % 40, DATE '1997-01-01' + i::INTEGER, i, NULL FROM range(120) r(i);
INSERT INTO item SELECT i % 120, 's' || (i % 5), i, i % 7, 1, NULL FROM range(200) r(i);
INSERT INTO edges SELECT i % 9, (i * 7) % 11 FROM range(30) r(i);
INSERT INTO t SELECT i % 4, i, DATE '1997-01-01', '1', 1, NULL, NULL, 1, 1 FROM range(8) r(i);
INSERT INTO u SELECT i % 4, i, 1, NULL FROM range(8) r(i);
"""
POLICY = Policy.parse(f"""{PROTECTION}
[[public]]
table = "t"

[[public]]
table = "u"

[[domain]]
table = "gift"
column = "g_note"
query = "SELECT n_id FROM nation"

[budget]
epsilon = 1000
""")


@cache
def engine() -> DuckDB:
    """Return an engine over the bazaar."""
    connection = duckdb.connect(":memory:", config={"threads": 1})
    connection.execute(SCHEMA)
    return DuckDB.open(connection)


@cache
def catalogue() -> Catalogue:
    """Return the catalogue of that engine, read once."""
    return engine().catalogue()
