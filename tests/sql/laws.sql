SELECT COUNT(*) FROM customer
SELECT COUNT(*) FROM orders
SELECT COUNT(*) FROM item
SELECT COUNT(*) FROM nation
SELECT SUM(n_id) FROM nation WHERE n_name IS NOT NULL
SELECT COUNT(*) FROM edges
SELECT COUNT(*) FROM edges a JOIN edges b ON a.dst = b.src JOIN edges c ON b.dst = c.src AND c.dst = a.src
SELECT COUNT(*) FROM edges a, edges b WHERE a.src < b.src OR a.dst = b.dst AND NOT a.src = 2
SELECT SUM(o_total) FROM orders
SELECT SUM(i_price) FROM item WHERE i_price < 100 OR i_count > 1
SELECT SUM(o_total * i_count) FROM item i JOIN orders o ON i.i_order = o.o_id
SELECT COUNT(*) FROM item i JOIN orders o ON i.i_order <= o.o_id JOIN customer c ON o.o_customer = c.c_id
SELECT COUNT(*) FROM orders o JOIN customer c ON c.c_id = o.o_customer AND c.c_name = 'a'
SELECT COUNT(*) FROM customer c CROSS JOIN supplier s JOIN nation n ON n.n_id = c.c_nation AND n.n_id = s.s_nation
SELECT SUM(CASE WHEN c_name LIKE 'A%' THEN -1 ELSE c_nation END) FROM customer
SELECT COUNT(*) FROM orders WHERE o_date BETWEEN DATE '1996-01-01' AND DATE '1998-01-01' AND o_total > 0.5
SELECT COUNT(*) FROM customer a JOIN customer b ON a.c_nation = b.c_nation WHERE lower(a.c_name) = lower(b.c_name)
SELECT SUM(i_count - o_customer) FROM item, orders WHERE i_order = o_id AND i_supplier IN ('a', 'b')
SELECT COUNT(i_count) FROM item
SELECT COUNT(DISTINCT o_date) FROM orders
SELECT COUNT(DISTINCT i_price) FROM item
SELECT SUM(DISTINCT o_total) FROM orders JOIN customer ON o_customer = c_id
SELECT COUNT(*) FILTER (WHERE c_nation > 1) FROM customer
SELECT COUNT(*) FROM (SELECT DISTINCT c_nation, c_name FROM customer) t
SELECT COUNT(*) FROM (SELECT DISTINCT c_nation FROM customer) t JOIN nation ON n_id = c_nation
SELECT COUNT(*) FROM orders o WHERE EXISTS (SELECT 1 FROM item i WHERE i.i_order = o.o_id)
SELECT COUNT(*) FROM orders WHERE o_id IN (SELECT i_order FROM item)
SELECT COUNT(*) FROM orders WHERE o_id = ANY (SELECT i_order FROM item WHERE i_count > 0)
SELECT COUNT(*) FROM orders WHERE o_id > ANY (SELECT i_order FROM item)
SELECT SUM(o_total) FROM orders o WHERE EXISTS (SELECT 1 FROM item i WHERE i.i_order = o.o_id AND i.i_price < o.o_total) OR o_total < 0
SELECT COUNT(*) FROM customer c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.o_customer = c.c_id) AND EXISTS (SELECT 1 FROM edges e WHERE e.src = c.c_id)
SELECT COUNT(*) FROM customer c WHERE c_id IN (SELECT src FROM edges) OR c_id IN (SELECT dst FROM edges) OR c_name = 'a'
SELECT COUNT(*) FROM edges a WHERE EXISTS (SELECT 1 FROM edges b WHERE b.src = a.dst AND EXISTS (SELECT 1 FROM edges c WHERE c.src = b.dst AND c.dst = a.src))
SELECT COUNT(*) FROM (SELECT src AS x FROM edges UNION SELECT dst FROM edges) t
SELECT COUNT(*) FROM (SELECT src AS x FROM edges UNION ALL SELECT dst FROM edges) t WHERE x > 1
SELECT SUM(x) FROM (SELECT src AS x FROM edges UNION ALL SELECT n_id FROM nation) t
SELECT COUNT(*) FROM (SELECT src FROM edges INTERSECT SELECT dst FROM edges) t
SELECT COUNT(*) FROM (SELECT DISTINCT src FROM edges) a JOIN (SELECT DISTINCT dst FROM edges) b ON a.src = b.dst
WITH f AS (SELECT src AS a, dst AS b FROM edges WHERE src <> dst) SELECT COUNT(*) FROM f x JOIN f y ON x.b = y.a
WITH f AS (SELECT DISTINCT src AS a FROM edges), g AS (SELECT a FROM f WHERE a > 0) SELECT COUNT(*) FROM g x, f y WHERE x.a <= y.a
SELECT COUNT(*) FROM customer LEFT JOIN nation ON c_nation = n_id AND n_name <> 'a'
SELECT SUM(CASE WHEN n_name IS NULL THEN 1 ELSE -2 END) FROM customer LEFT JOIN nation ON c_nation = n_id
SELECT COUNT(*) FROM customer WHERE NOT EXISTS (SELECT 1 FROM nation WHERE n_id = c_nation)
SELECT COUNT(*) FROM customer WHERE c_nation NOT IN (SELECT n_id FROM nation WHERE n_name = 'a')
SELECT COUNT(*) FROM customer WHERE EXISTS (SELECT 1 FROM nation WHERE n_id = c_nation)
SELECT COUNT(DISTINCT n_name) FROM nation
SELECT COUNT(*) FROM edges a SEMI JOIN edges b ON a.src = b.dst
SELECT COUNT(*) FROM (SELECT o_date, o_customer FROM orders GROUP BY 1, 2 HAVING COUNT(*) >= 1) t
SELECT COUNT(*) FROM (SELECT DISTINCT o_customer FROM orders WHERE o_id IN (SELECT i_order FROM item)) t
SELECT COUNT(*) FROM edges a NATURAL JOIN (SELECT dst AS src FROM edges) b
SELECT COUNT(*) FROM edges a JOIN edges b USING (src) WHERE src > 0
SELECT COUNT(*) FROM item i WHERE i_price IN (SELECT i_price FROM item j WHERE j.i_price > i.i_count)
SELECT COUNT(*) FROM supplier s WHERE EXISTS (SELECT 1 FROM item WHERE i_supplier = s_id AND i_price > 1) AND s_nation IN (SELECT c_nation FROM customer)
SELECT COUNT(*) FROM customer WHERE c_nation > (SELECT MIN(n_id) FROM nation)
SELECT COUNT(*) FROM customer WHERE NOT c_nation < (SELECT COUNT(*) FROM nation WHERE n_id <= c_id) OR c_id <= (SELECT AVG(n_id) FROM nation)
SELECT SUM(CASE WHEN c_nation IN (SELECT n_id FROM nation) THEN c_id ELSE -1 END) FROM customer
SELECT SUM(CASE WHEN EXISTS (SELECT 1 FROM nation WHERE n_id = c_nation) THEN 1 END) FROM customer
SELECT COUNT(*) FROM customer WHERE (c_nation IN (SELECT n_id FROM nation)) IS NULL OR (c_id IN (SELECT n_id FROM nation)) = FALSE
SELECT COUNT(n_name) FROM customer LEFT JOIN (SELECT * FROM nation WHERE n_name <> 'a') n ON n_id = c_nation
