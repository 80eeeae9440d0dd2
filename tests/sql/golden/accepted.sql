SELECT COUNT(*) FROM orders
select count(*) from ORDERS
SELECT COUNT(*) FROM main.orders
SELECT COUNT(*) AS n FROM orders AS o;
SELECT COUNT(*) FROM "orders" "o" WHERE "o"."o_id" = 1
SELECT SUM(o_total) FROM orders
SELECT SUM(o_total * 2 - 1) FROM orders
SELECT SUM(-o_total) FROM orders
SELECT SUM(o_total / 3) FROM orders
SELECT SUM(CASE WHEN o_total > 0 THEN o_total ELSE 0 END) FROM orders
SELECT SUM(CASE o_id WHEN 1 THEN 2 END) FROM orders
SELECT SUM(1) FROM orders
SELECT COUNT(*) FROM orders, customer
SELECT COUNT(*) FROM orders CROSS JOIN customer
SELECT COUNT(*) FROM orders JOIN customer ON o_customer = c_id
SELECT COUNT(*) FROM orders INNER JOIN customer ON o_customer = c_id
SELECT COUNT(*) FROM orders o JOIN customer c ON o.o_customer = c.c_id AND o.o_total > c.c_nation
SELECT COUNT(*) FROM orders o JOIN customer c ON o.o_customer < c.c_id
SELECT COUNT(*) FROM orders o JOIN customer c ON TRUE
SELECT COUNT(*) FROM edges a, edges b, edges c
SELECT COUNT(*) FROM edges a JOIN edges b ON a.dst = b.src WHERE a.src <> b.dst
SELECT COUNT(*) FROM item i JOIN orders o ON i.i_order = o.o_id JOIN customer c ON o.o_customer = c.c_id
SELECT COUNT(*) FROM item, supplier WHERE i_supplier = s_id
SELECT COUNT(*) FROM customer c, supplier s WHERE c.c_nation = s.s_nation
SELECT COUNT(*) FROM customer, nation WHERE c_nation = n_id AND n_name = 'x'
SELECT COUNT(*) FROM nation
SELECT COUNT(*) FROM orders WHERE o_id = 1 AND o_customer = 2 OR NOT o_total < 3
SELECT COUNT(*) FROM orders WHERE o_id != 1
SELECT COUNT(*) FROM orders WHERE o_id == 1
SELECT COUNT(*) FROM orders WHERE o_id IN (1, 2, 3)
SELECT COUNT(*) FROM orders WHERE o_id NOT IN (1, 2, 3)
SELECT COUNT(*) FROM orders WHERE o_id BETWEEN 1 AND 5
SELECT COUNT(*) FROM orders WHERE o_id NOT BETWEEN 1 AND 5
SELECT COUNT(*) FROM orders WHERE o_id IS NULL
SELECT COUNT(*) FROM orders WHERE o_id IS NOT NULL
SELECT COUNT(*) FROM orders WHERE o_id IS DISTINCT FROM o_customer
SELECT COUNT(*) FROM orders WHERE o_id IS NOT DISTINCT FROM o_customer
SELECT COUNT(*) FROM orders WHERE (o_id > 1) IS TRUE
SELECT COUNT(*) FROM customer WHERE c_name LIKE 'A%'
SELECT COUNT(*) FROM customer WHERE c_name NOT LIKE 'A%'
SELECT COUNT(*) FROM customer WHERE c_name ILIKE 'a_'
SELECT COUNT(*) FROM customer WHERE c_name LIKE '10!%' ESCAPE '!'
SELECT COUNT(*) FROM customer WHERE c_name = 'it''s'
SELECT COUNT(*) FROM customer WHERE c_name = 'a\b'
SELECT COUNT(*) FROM customer WHERE c_name || 'x' = 'ax'
SELECT COUNT(*) FROM customer WHERE concat(c_name, 'x') = 'ax'
SELECT COUNT(*) FROM customer WHERE lower(c_name) = 'a' AND upper(c_name) = 'A'
SELECT COUNT(*) FROM customer WHERE trim(c_name) = substring(c_name, 1, 2)
SELECT COUNT(*) FROM customer WHERE length(c_name) > 2 AND starts_with(c_name, 'a')
SELECT COUNT(*) FROM customer WHERE left(c_name, 1) = right(c_name, 1) OR replace(c_name, 'a', 'b') = 'b'
SELECT COUNT(*) FROM customer WHERE coalesce(c_name, 'none') = 'none' AND nullif(c_name, 'x') IS NULL
SELECT COUNT(*) FROM customer WHERE least(c_id, c_nation) = 1 AND greatest(c_id, c_nation) = 2
SELECT COUNT(*) FROM orders WHERE o_date < DATE '1997-01-01'
SELECT COUNT(*) FROM orders WHERE o_date < '1997-01-01'
SELECT COUNT(*) FROM orders WHERE o_date + INTERVAL 1 DAY > DATE '1997-01-01'
SELECT COUNT(*) FROM orders WHERE o_date >= DATE '1997-01-01' - INTERVAL '3' MONTH
SELECT COUNT(*) FROM orders WHERE EXTRACT(year FROM o_date) = 1997
SELECT COUNT(*) FROM orders WHERE year(o_date) = 1997 AND month(o_date) < 6 AND day(o_date) = 1
SELECT COUNT(*) FROM orders WHERE CAST(o_total AS BIGINT) = 3 AND o_id::VARCHAR = '3'
SELECT COUNT(*) FROM orders WHERE TRY_CAST(o_id AS DOUBLE) > 1e3
SELECT COUNT(*) FROM orders WHERE CAST(o_total AS DECIMAL(12, 4)) = 1.0000
SELECT COUNT(*) FROM orders WHERE o_id % 2 = 0 AND o_id // 2 = 1 AND mod(o_id, 3) = 1
SELECT COUNT(*) FROM orders WHERE abs(o_total) > 1 AND round(o_total, 1) = 0.5 AND floor(o_total) = ceil(o_total)
SELECT COUNT(*) FROM orders WHERE sqrt(o_id) > ln(o_id) + exp(1) * pow(2, o_id) - sign(o_total)
SELECT COUNT(*) FROM item WHERE i_price * (1 - 0.1) * (1 + 0.2) > 100
SELECT COUNT(*) FROM customer WHERE NULL
SELECT COUNT(*) FROM big_orders
SELECT COUNT(*) FROM (SELECT * FROM orders) o
SELECT COUNT(*) FROM (orders)
SELECT COUNT(*) FROM orders o(a, b) WHERE a > b
SELECT COUNT(*) FROM orders SEMI JOIN customer ON o_customer = c_id
SELECT COUNT(*) FROM edges a JOIN edges b USING (src)
SELECT COUNT(*), SUM(o_total), AVG(o_total), COUNT(*) FROM orders
SELECT COUNT(o_id) FROM orders
SELECT COUNT(DISTINCT o_id) FROM orders
SELECT COUNT(DISTINCT o_id, o_date) FROM orders
SELECT AVG(o_total) FROM orders
SELECT AVG(DISTINCT o_total) FROM orders
SELECT SUM(DISTINCT o_total) FROM orders
SELECT COUNT(*) + 1 FROM orders
SELECT 100 * SUM(o_total) / COUNT(*) - 3 FROM orders
SELECT COUNT(*) FILTER (WHERE o_id > 1) FROM orders
SELECT COUNT(*) FILTER (WHERE o_id IN (SELECT i_order FROM item)) / COUNT(*) AS share FROM orders
SELECT COUNT(*) FROM orders ORDER BY 1
WITH x AS (SELECT 1) SELECT COUNT(*) FROM orders
WITH x(a) AS (SELECT o_id FROM orders), y AS (SELECT a FROM x WHERE a > 3) SELECT COUNT(*) FROM x, y WHERE x.a < y.a
SELECT COUNT(*) FROM orders WHERE o_id IN (SELECT i_order FROM item)
SELECT COUNT(*) FROM orders WHERE (o_id, o_customer) IN (SELECT i_order, i_count FROM item)
SELECT COUNT(*) FROM orders WHERE o_id = ANY (SELECT i_order FROM item)
SELECT COUNT(*) FROM orders WHERE EXISTS (SELECT * FROM item WHERE i_order = o_id) OR o_total > 3
SELECT COUNT(*) FROM orders o WHERE EXISTS (SELECT 1 FROM item i WHERE i.i_order = o.o_id AND i_supplier IN (SELECT s_id FROM supplier))
SELECT COUNT(*) FROM customer WHERE c_nation NOT IN (SELECT n_id FROM nation)
SELECT COUNT(*) FROM customer WHERE NOT EXISTS (SELECT 1 FROM nation WHERE n_id = c_nation AND n_name LIKE 'A%')
SELECT COUNT(*) FROM customer LEFT JOIN nation ON c_nation = n_id
SELECT COUNT(n_name) FROM customer LEFT JOIN nation ON c_nation = n_id AND 1 // n_id = 1
SELECT COUNT(*) FROM (SELECT o_id FROM orders UNION SELECT i_order FROM item) t
SELECT COUNT(*) FROM (SELECT o_id FROM orders UNION ALL SELECT i_order FROM item) t
SELECT COUNT(*) FROM (SELECT o_id FROM orders INTERSECT SELECT i_order FROM item) t
SELECT COUNT(*) FROM (SELECT DISTINCT o_customer, year(o_date) FROM orders ORDER BY 1) t
SELECT COUNT(*) FROM (SELECT o_customer FROM orders GROUP BY o_customer HAVING COUNT(*) >= 1) t
SELECT n_name, COUNT(*) FROM customer JOIN nation ON c_nation = n_id GROUP BY n_name ORDER BY n_name DESC
SELECT n_name AS name, year(o_date) AS y, SUM(o_total) FROM orders JOIN customer ON o_customer = c_id JOIN nation ON c_nation = n_id WHERE year(o_date) IN (1995, 1996) GROUP BY name, 2
SELECT c_name, COUNT(DISTINCT c_nation) FROM customer WHERE c_name IN ('a', 'b') GROUP BY c_name
SELECT o_customer % 2 AS odd, AVG(o_total) FROM orders WHERE o_customer % 2 IN (0, 1) GROUP BY odd
SELECT COUNT(*) FROM customer WHERE c_nation > (SELECT MIN(n_id) FROM nation)
SELECT COUNT(*) FROM customer WHERE c_nation = (SELECT n_id FROM nation WHERE n_name = c_name)
SELECT COUNT(*) FROM customer WHERE NOT c_nation < (SELECT COUNT(*) FROM nation WHERE n_id <= c_id) OR c_id <= (SELECT AVG(n_id) FROM nation)
SELECT SUM(CASE WHEN c_nation IN (SELECT n_id FROM nation) THEN c_id ELSE -1 END) FROM customer
SELECT SUM(CASE WHEN EXISTS (SELECT 1 FROM nation WHERE n_id = c_nation) THEN 1 END) FROM customer
SELECT COUNT(*) FROM customer WHERE (c_nation IN (SELECT n_id FROM nation)) IS NULL OR (c_id IN (SELECT n_id FROM nation)) = FALSE
SELECT COUNT(n_name), COUNT(*) FROM customer LEFT JOIN (SELECT * FROM nation WHERE n_name <> 'a') n ON n_id = c_nation
SELECT COUNT(*) FROM orders WHERE EXTRACT(epoch FROM o_date) > 1
SELECT COUNT(*) FROM customer WHERE c_nation > 2 * (SELECT MAX(n_id) FROM nation)
SELECT COUNT(*) FROM customer WHERE c_nation > (SELECT MAX(n_name) FROM nation)
SELECT COUNT(*) FROM customer WHERE c_nation NOT IN (SELECT n_name FROM nation)
SELECT COUNT(*) FROM orders -- WHERE o_id = 1
SELECT COUNT(*) FROM orders /* ; DROP TABLE orders */
SELECT COUNT(*) /*! FROM secret */ FROM orders
SELECT COUNT(*) FROM (VALUES (1), (2)) t
SELECT COUNT(*) FROM orders JOIN (VALUES (1, 'a'), (2, NULL)) v(n, s) ON o_id = n
SELECT ROUND(AVG(o_total), 2), ROUND(COUNT(*) / 3) FROM orders
SELECT COUNT(*) FROM orders LEFT JOIN customer ON o_customer = c_id
SELECT COUNT(*) FROM orders RIGHT JOIN customer ON o_customer = c_id
SELECT COUNT(*) FROM orders FULL JOIN customer ON o_customer = c_id
SELECT COUNT(*) FROM orders ANTI JOIN customer ON o_customer = c_id
SELECT COUNT(*) FROM orders WHERE NOT EXISTS (SELECT 1 FROM item WHERE i_order = o_id)
SELECT COUNT(*) FROM (SELECT o_id FROM orders EXCEPT SELECT i_order FROM item) t
SELECT COUNT(*) FROM orders WHERE o_id NOT IN (SELECT i_order FROM item)
SELECT COUNT(*) FROM orders WHERE NOT (o_id > 3 OR EXISTS (SELECT 1 FROM item WHERE i_order = o_id))
SELECT COUNT(*) FROM orders WHERE CASE WHEN o_id IN (SELECT i_order FROM item) THEN TRUE END
SELECT COUNT(*) FROM orders WHERE (o_id IN (SELECT i_order FROM item)) = FALSE
SELECT COUNT(*) FROM orders WHERE (o_id IN (SELECT i_order FROM item)) IS NULL
SELECT COUNT(*) FROM orders WHERE o_total >= ALL (SELECT o_total FROM orders)
SELECT COUNT(*) FROM orders WHERE o_total = (SELECT MAX(o_total) FROM orders)
SELECT COUNT(*) FROM nation LEFT JOIN customer ON n_id = c_nation
SELECT COUNT(*) FROM orders ANTI JOIN item ON o_id = i_order
SELECT COUNT(*) FROM customer WHERE c_nation > (SELECT MAX(c_nation) FROM customer)
WITH n AS (SELECT 1 AS one, n_id FROM nation) SELECT COUNT(one) FROM customer LEFT JOIN n ON n_id = c_nation
SELECT COUNT(*) FROM orders LEFT JOIN (SELECT * FROM customer) c ON o_customer = c_id
SELECT COUNT(*) FROM (SELECT s_id FROM supplier LEFT JOIN customer ON c_nation = s_nation UNION SELECT c_name FROM customer) t
SELECT COUNT(*) FROM orders, LATERAL (SELECT 1) x
SELECT COUNT(*) FROM (SELECT DISTINCT ON (o_customer) o_customer, o_id FROM orders) t
SELECT COUNT(*) FROM (SELECT o_customer, COUNT(*) AS n FROM orders GROUP BY o_customer) t WHERE n > 3
SELECT COUNT(*) FROM (SELECT o_customer FROM orders GROUP BY o_customer HAVING COUNT(*) > 3) t
SELECT COUNT(*) FROM (SELECT o_customer FROM orders GROUP BY o_customer HAVING COUNT(*) <= 3) t
SELECT COUNT(*) FROM orders o, LATERAL (SELECT * FROM item WHERE i_order = o.o_id) t
SELECT COUNT(*) FROM (SELECT * EXCLUDE (o_id) FROM orders) t
SELECT COUNT(*) FROM customer WHERE c_nation > (SELECT SUM(n_id) FROM nation)
SELECT SUM(CASE WHEN EXISTS (SELECT 1 FROM item WHERE i_order = o_id) THEN 1 END) FROM orders
SELECT COUNT(*) FROM (SELECT o_id, EXISTS (SELECT 1 FROM item) AS e FROM orders) t
