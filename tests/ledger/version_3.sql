PRAGMA application_id = 1380270933;
PRAGMA user_version = 3;
BEGIN TRANSACTION;
CREATE TABLE account (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        granted TEXT NOT NULL,
        spent TEXT NOT NULL
    , data_version INTEGER NOT NULL DEFAULT 1);
INSERT INTO "account" VALUES(1,'4','3/2',1);
CREATE TABLE analyst (name TEXT PRIMARY KEY, granted TEXT NOT NULL, spent TEXT NOT NULL);
CREATE TABLE charge (
        id INTEGER PRIMARY KEY,
        at TEXT NOT NULL,
        epsilon TEXT NOT NULL,
        query TEXT NOT NULL
    , analyst TEXT, data_version INTEGER NOT NULL DEFAULT 1, policy TEXT, key TEXT, answer TEXT, source TEXT);
INSERT INTO "charge" VALUES(1,'2026-11-17T13:52:09+00:00','1','SELECT COUNT(*) FROM orders',NULL,1,'7d33d19fa8df9042c03f4553f9fe937f7720cc372a10444ca9965c84d1849f2b','5ca69681343f0acb6fc1396d7cf30d3ca1c86f7c4fee7d97a608191581ce33d9','{"value": "133", "low": "115", "high": "150", "epsilon": "1", "noise_scale": "3033746904752623/549755813888000", "mechanism": "selective", "signed": false, "noise_epsilon": "43/60"}','shop.duckdb');
INSERT INTO "charge" VALUES(2,'2026-11-17T13:52:10+00:00','1/2','SELECT COUNT(*) FROM customer',NULL,1,'7d33d19fa8df9042c03f4553f9fe937f7720cc372a10444ca9965c84d1849f2b','66aec21222dc28b89221172d42190e127e40a0405cf53584b20a6f4487d0f7bd','{"value": "42", "low": "5", "high": "79", "epsilon": "1/2", "noise_scale": "6699901689510379/549755813888000", "mechanism": "selective", "signed": false, "noise_epsilon": "33/100"}','shop.duckdb');
CREATE TABLE decision (
        id INTEGER PRIMARY KEY,
        at TEXT NOT NULL,
        what TEXT NOT NULL CHECK (what IN ('grant', 'publish')),
        analyst TEXT,
        epsilon TEXT,
        data_version INTEGER NOT NULL
    );
INSERT INTO "decision" VALUES(1,'2026-11-17T13:52:09+00:00','grant',NULL,'4',1);
CREATE INDEX asked ON charge (key);
COMMIT;
