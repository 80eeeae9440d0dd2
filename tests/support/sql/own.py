"""Questions about what is own, and in which markets each is proved so."""

from __future__ import annotations

from support.sql.market import Form, Market

CUSTOMERS = ("customer",)


BOTH = ("customer", "supplier")


OWN = [  # customers protected, nothing enforced
    "SELECT COUNT(*) FROM (SELECT o_customer FROM orders GROUP BY o_customer HAVING COUNT(*) > 1) t",
    "SELECT COUNT(*) FROM customer WHERE c_id IN"
    " (SELECT o_customer FROM orders GROUP BY o_customer HAVING COUNT(*) > 1)",
    "SELECT COUNT(*) FROM customer WHERE c_id NOT IN"
    " (SELECT o_customer FROM orders GROUP BY o_customer HAVING COUNT(*) > 1)",
    "SELECT COUNT(*) FROM customer c WHERE (SELECT COUNT(*) FROM orders WHERE o_customer = c.c_id) > 1",
    "SELECT n, COUNT(*) FROM (SELECT c_id, COUNT(o_id) AS n FROM customer LEFT JOIN orders"
    " ON o_customer = c_id GROUP BY c_id) t WHERE n IN (0, 1, 2) GROUP BY n",
    "SELECT m, COUNT(*) FROM (SELECT o_customer, date_trunc('month', MIN(o_date)) AS m FROM orders"
    " GROUP BY o_customer) t WHERE m IN (DATE '1997-01-01', DATE '1997-02-01') GROUP BY m",
    "SELECT SUM(o_total) FROM (SELECT o_total, ROW_NUMBER() OVER (PARTITION BY o_customer"
    " ORDER BY o_total DESC, o_id) AS place FROM orders) t WHERE place <= 2",
    "SELECT SUM(o_total) FROM (SELECT * FROM orders QUALIFY ROW_NUMBER() OVER (PARTITION BY o_customer"
    " ORDER BY o_date, o_id) = 1) t",
    "SELECT COUNT(*) FROM (SELECT o_customer, o_date, LAG(o_date) OVER (PARTITION BY o_customer"
    " ORDER BY o_date, o_id) AS before FROM orders) t WHERE before IS NULL OR o_date > before"
    " + INTERVAL 9 DAY",
    "SELECT COUNT(*) FROM orders o WHERE o_total >"
    " (SELECT AVG(p.o_total) FROM orders p WHERE p.o_customer = o.o_customer)",
    "SELECT COUNT(*) FROM customer WHERE NOT EXISTS (SELECT 1 FROM orders WHERE o_customer = c_id)",
    "SELECT COUNT(*) FROM customer WHERE c_id NOT IN (SELECT o_customer FROM orders)",
    "SELECT COUNT(*) FROM customer LEFT JOIN orders ON o_customer = c_id WHERE o_id IS NULL",
    "SELECT COUNT(*) FROM orders o WHERE EXISTS (SELECT 1 FROM orders p WHERE p.o_customer = o.o_customer"
    " AND p.o_date > o.o_date AND p.o_date <= o.o_date + INTERVAL 30 DAY)",
    "SELECT COUNT(*) FROM orders o WHERE NOT EXISTS (SELECT 1 FROM orders p"
    " WHERE p.o_customer = o.o_customer AND p.o_date > o.o_date)",
    "SELECT COUNT(*) FROM customer c WHERE EXISTS (SELECT o_date FROM orders WHERE o_customer = c.c_id"
    " EXCEPT SELECT o_date FROM orders WHERE o_customer = c.c_id AND o_total > 0)",
    "SELECT SUM(m) FROM (SELECT o_customer, MAX(o_total) - MIN(o_total) AS m FROM orders GROUP"
    " BY o_customer) t",
    "SELECT COUNT(*) FROM (SELECT o_customer, MEDIAN(o_total) AS m FROM orders GROUP BY"
    " o_customer) t WHERE m > 0",
    "SELECT COUNT(*) FROM (SELECT DISTINCT ON (o_customer) o_customer, o_total FROM orders"
    " ORDER BY o_customer, o_date DESC, o_id) t WHERE o_total > 1",
    "SELECT COUNT(*) FROM (SELECT k, COUNT(*) AS n FROM (SELECT o_customer AS k, o_date, SUM(o_total) AS s"
    " FROM orders GROUP BY o_customer, o_date) u WHERE s > 0 GROUP BY k) t WHERE n >= 1",
    "SELECT COUNT(*) FROM customer c WHERE (SELECT o_total FROM orders WHERE o_customer = c.c_id"
    " ORDER BY o_date DESC, o_id LIMIT 1) > 1",
    "SELECT COUNT(*) FROM customer c, LATERAL (SELECT MAX(o_total) AS m FROM orders"
    " WHERE o_customer = c.c_id) t WHERE m > 1",
    "SELECT SUM(r) FROM (SELECT o_customer, SUM(o_total) OVER (PARTITION BY o_customer ORDER BY o_date, o_id)"
    " AS r FROM orders) t WHERE r > 0",
    "SELECT COUNT(*) FROM customer c WHERE (SELECT MAX(o_date) FROM orders WHERE o_customer = c.c_id)"
    " > DATE '1997-01-31'",
    "SELECT COUNT(*) FROM customer c WHERE c_balance >= ALL (SELECT o_total FROM orders WHERE"
    " o_customer = c_id)",
    "SELECT COUNT(*) FROM customer c WHERE EXISTS (SELECT 1 FROM gift WHERE g_from = c.c_id"
    " AND NOT EXISTS (SELECT 1 FROM orders WHERE o_customer = c.c_id))",
    "SELECT COUNT(*) FROM customer c WHERE (SELECT COUNT(*) FROM gift WHERE g_to = c.c_id) >"
    " (SELECT COUNT(*) FROM gift WHERE g_from = c.c_id)",
    "SELECT COUNT(*) FROM customer c JOIN (SELECT o_customer AS k, COUNT(*) AS n FROM orders"
    " GROUP BY o_customer) t ON t.k = c.c_id WHERE t.n > 1 AND c_name = 'a'",
    "SELECT c_name, SUM(n) FROM (SELECT c_id, c_name, COUNT(*) AS n FROM customer JOIN orders"
    " ON o_customer = c_id GROUP BY c_id, c_name) t GROUP BY c_name",
    "SELECT n_name, COUNT(*) FROM (SELECT c_id, c_nation, COUNT(o_id) AS n FROM customer LEFT JOIN orders"
    " ON o_customer = c_id GROUP BY c_id, c_nation) t JOIN nation ON n_id = c_nation WHERE n >"
    " 0 GROUP BY n_name",
    "SELECT COUNT(*) FROM orders o JOIN item i ON i.i_order = o.o_id WHERE i.i_count ="
    " (SELECT MAX(j.i_count) FROM item j WHERE j.i_order = o.o_id)",
    "WITH first AS (SELECT o_customer AS k, MIN(o_date) AS d FROM orders GROUP BY o_customer)"
    " SELECT COUNT(*) FROM first JOIN orders ON o_customer = k WHERE o_date = d + INTERVAL 1 DAY",
    "SELECT COUNT(*) FROM (SELECT o_customer, BOOL_OR(o_total > 5) AS big, COUNT(*) AS n FROM orders"
    " GROUP BY o_customer) t WHERE big AND n > 1",
    "SELECT SUM(CASE WHEN (SELECT COUNT(*) FROM orders WHERE o_customer = c.c_id) > 1 THEN c_balance END)"
    " FROM customer c",
    "SELECT COUNT(*) FROM (SELECT o_customer AS k, 1 AS x FROM orders GROUP BY o_customer UNION ALL"
    " SELECT c_id, 2 FROM customer WHERE NOT EXISTS (SELECT 1 FROM orders WHERE o_customer = c_id)) t",
    "SELECT COUNT(*) FROM (SELECT o_customer FROM orders EXCEPT"
    " SELECT o_customer FROM orders WHERE o_total > 0) t",
    "SELECT COUNT(*) FROM (SELECT c_id FROM customer c FULL JOIN (SELECT 1 AS one) x ON c.c_id = one"
    " WHERE c_id IS NOT NULL) t",
]


TWO_KINDS = [  # customers and suppliers
    "SELECT COUNT(*) FROM (SELECT o_customer, i_supplier, SUM(i_count) AS s FROM item JOIN orders"
    " ON i_order = o_id GROUP BY o_customer, i_supplier) t WHERE s > 1",
    "SELECT COUNT(*) FROM item i JOIN orders o ON i.i_order = o.o_id WHERE i_count >= (SELECT AVG(j.i_count)"
    " FROM item j WHERE j.i_order = o.o_id AND j.i_supplier = i.i_supplier)",
    "SELECT COUNT(*) FROM supplier s WHERE NOT EXISTS (SELECT 1 FROM supplier t WHERE t.s_id = s.s_id"
    " AND t.s_nation > 1)",
    "SELECT COUNT(*) FROM customer WHERE (SELECT COUNT(*) FROM orders WHERE o_customer = c_id) = 2",
]


ENFORCED = [  # keys that the database enforces prove these, and nothing else does
    "SELECT COUNT(*) FROM (SELECT i_order, SUM(i_count) AS s FROM item GROUP BY i_order) t WHERE s > 2",
    "SELECT COUNT(*) FROM item i WHERE i_count > (SELECT AVG(j.i_count) FROM item j WHERE"
    " j.i_order = i.i_order)",
    "SELECT COUNT(*) FROM item i WHERE NOT EXISTS (SELECT 1 FROM item j WHERE j.i_order = i.i_order"
    " AND j.i_product <> i.i_product HAVING COUNT(*) > 1)",
    "SELECT COUNT(*) FROM (SELECT o_id, o_total FROM orders QUALIFY RANK() OVER (PARTITION BY o_id"
    " ORDER BY o_total) = 1) t JOIN item ON i_order = o_id",
    "SELECT COUNT(*) FROM (SELECT o_id, COUNT(*) OVER (PARTITION BY o_customer) AS n FROM orders) t"
    " WHERE n > 1 AND (SELECT COUNT(*) FROM item WHERE i_order = t.o_id) > 1",
]


CASES = [
    *((text, Market(form, CUSTOMERS)) for text in OWN for form in (Form.BARE, Form.LINKED)),
    *((text, Market(form, BOTH)) for text in TWO_KINDS for form in (Form.BARE, Form.LINKED)),
    *((text, Market(form, CUSTOMERS)) for text in ENFORCED for form in (Form.KEYED, Form.LINKED)),
]
