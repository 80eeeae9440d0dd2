SELECT COUNT(*) FROM orders
SELECT count(*) AS n FROM Item;
SELECT COUNT(*) FROM edges a JOIN edges b ON a.dst = b.src JOIN edges c ON b.dst = c.src AND c.dst = a.src WHERE a.src < b.src AND b.src < c.src
SELECT SUM(o_total) FROM orders WHERE o_date < DATE '1997-01-01' AND (o_total > 10 OR o_id // o_customer = 2)
SELECT SUM(i_price * i_count) FROM item i, orders o, customer c WHERE i.i_order = o.o_id AND c.c_id = o.o_customer AND c.c_name LIKE 'A%'
SELECT COUNT(*) FROM item i JOIN orders o ON i.i_order < o.o_id
SELECT COUNT(*) FROM customer present JOIN supplier item_orders ON present.c_nation = item_orders.s_nation CROSS JOIN item
SELECT COUNT(*) FROM customer WHERE c_name = 'x' OR NOT (c_nation IN (1, 2) AND c_name > c_nation)
SELECT SUM(n_id) FROM nation
SELECT COUNT(*) FROM nation n CROSS JOIN customer c WHERE n.n_id = c.c_nation AND c.c_name
SELECT COUNT(DISTINCT o_date) FROM orders
SELECT COUNT(*) FROM orders o WHERE EXISTS (SELECT 1 FROM item i WHERE i.i_order = o.o_id AND i.i_price > 1) AND o.o_customer IN (SELECT c_id FROM customer)
SELECT COUNT(*) FROM (SELECT src AS x FROM edges UNION SELECT dst FROM edges WHERE src / 0 > 1) t
SELECT SUM(x) FROM (SELECT src AS x FROM edges UNION ALL SELECT n_id FROM nation) t
SELECT COUNT(*) FROM customer LEFT JOIN nation ON c_nation = n_id WHERE NOT EXISTS (SELECT 1 FROM nation m WHERE m.n_id > c_id)
SELECT n_name, AVG(o_total) FROM orders JOIN customer ON o_customer = c_id JOIN nation ON c_nation = n_id GROUP BY n_name
SELECT COUNT(*) FROM orders WHERE o_id NOT IN (SELECT i_order FROM item)
SELECT COUNT(*) FROM supplier WHERE s_nation = 1 OR NOT EXISTS (SELECT 1 FROM customer WHERE c_nation = s_nation)
SELECT COUNT(*) FROM nation WHERE n_id IN (SELECT src FROM edges) <> EXISTS (SELECT 1 FROM customer WHERE c_nation = n_id)
SELECT SUM(CASE WHEN c_id IS NULL THEN s_nation ELSE -1 END) FROM supplier LEFT JOIN customer ON c_nation = s_nation
SELECT COUNT(*) FROM (SELECT src FROM edges EXCEPT SELECT c_id FROM customer) t
SELECT COUNT(*) FROM supplier WHERE s_nation <> (SELECT MIN(c_nation) FROM customer WHERE c_name > s_id)
