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
