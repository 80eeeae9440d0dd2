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
