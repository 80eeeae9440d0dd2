SELECT COUNT(*) FROM account
select count(*) from ACCOUNT
SELECT COUNT(*) FROM account;
SELECT COUNT(*) FROM account; -- all of them
/* how many? */ SELECT COUNT(*) /* all */ FROM account -- and that is it
SELECT COUNT(*) FROM main.account
SELECT COUNT(*) FROM memory.main.account
SELECT COUNT(*) FROM "account"
SELECT COUNT(*) FROM "ACCOUNT" AS "A" WHERE "A"."BALANCE" > 10
SELECT COUNT() FROM account
SELECT COUNT(1) FROM account
SELECT COUNT('x') FROM account
SELECT COUNT(id) FROM account
SELECT COUNT(ALL id) FROM account
SELECT COUNT(DISTINCT channel) FROM purchase
SELECT COUNT(DISTINCT (product)) FROM purchase
SELECT COUNT(DISTINCT product) AS "How Many" FROM purchase
SELECT COUNT("Full Name") FROM account
SELECT COUNT(late) FROM purchase
(SELECT COUNT(*) FROM account)
((SELECT COUNT(*) FROM account))
(SELECT COUNT(*) FROM account) ORDER BY 1
(SELECT channel, COUNT(*) FROM purchase GROUP BY 1) ORDER BY 2 DESC LIMIT 1
FROM account SELECT COUNT(*)
FROM purchase SELECT channel, COUNT(*) GROUP BY channel
SELECT COUNT(*), FROM account
SELECT 'accounts' AS what, COUNT(*) FROM account
SELECT 1 AS one, COUNT(*), NULL AS nothing, TRUE AS yes FROM account
SELECT DATE '2024-01-01' AS since, COUNT(*) FROM account
SELECT COUNT(*) AS n FROM account
SELECT COUNT(*) n FROM account
SELECT n: COUNT(*) FROM account
SELECT COUNT(*) "Number of accounts" FROM account
SELECT COUNT(*) AS n, n + 1 AS more FROM account
SELECT SUM(price) AS total, total / 2 AS half, half / 2 AS quarter FROM purchase
SELECT COUNT(*), COUNT(*) FROM account
SELECT COUNT(*) FROM account LIMIT 10
SELECT COUNT(*) FROM account LIMIT 10 OFFSET 0
SELECT COUNT(*) FROM account ORDER BY 1
SELECT COUNT(*) FROM account ORDER BY COUNT(*) DESC
SELECT DISTINCT COUNT(*) FROM account
SELECT COUNT(*) FROM account HAVING COUNT(*) > 3
SELECT COUNT(*) FROM account HAVING COUNT(*) > 3000
SELECT SUM(balance) FROM account HAVING COUNT(*) >= 1
SELECT COUNT_IF(balance > 50) FROM account
SELECT countif(active) FROM account
SELECT COUNT_IF(late) FROM purchase
SELECT SUM(balance > 50) FROM account
SELECT SUM(CASE WHEN balance > 50 THEN 1 ELSE 0 END) FROM account
SELECT SUM(CASE WHEN balance > 50 THEN 1 END) FROM account
SELECT SUM(IF(balance > 50, 1, 0)) FROM account
SELECT SUM((balance > 50)::INT) FROM account
SELECT SUM(CAST(balance > 50 AS INTEGER)) FROM account
SELECT COUNT(balance > 50 OR NULL) FROM account
SELECT COUNT(CASE WHEN balance > 50 THEN 1 END) FROM account
SELECT COUNT(CASE WHEN balance > 50 THEN id ELSE NULL END) FROM account
SELECT COUNT(NULLIF(active, FALSE)) FROM account
SELECT COUNT(*) FILTER (WHERE balance > 50) FROM account
SELECT COUNT(*) FILTER (balance > 50) FROM account
SELECT COUNT_IF(balance > 50) FILTER (WHERE active) FROM account
SELECT AVG(CASE WHEN balance > 50 THEN 1.0 ELSE 0.0 END) FROM account
SELECT AVG((balance > 50)::INT) FROM account
SELECT AVG(price) FROM purchase
SELECT AVG(DISTINCT quantity) FROM purchase
SELECT SUM(price * quantity) FROM purchase
SELECT SUM(price) * 2 FROM purchase
SELECT -SUM(price) FROM purchase
SELECT +SUM(price) FROM purchase
SELECT SUM(price) / COUNT(*) FROM purchase
SELECT SUM(price)::DOUBLE / COUNT(*)::DOUBLE FROM purchase
SELECT CAST(SUM(price) AS DOUBLE) / NULLIF(COUNT(*), 0) FROM purchase
SELECT 100.0 * COUNT_IF(late) / COUNT(*) FROM purchase
SELECT ROUND(100.0 * COUNT(*) FILTER (WHERE late) / COUNT(*), 2) AS share FROM purchase
SELECT ROUND(AVG(price), 1), ROUND(SUM(price)), ROUND(SUM(price), -2) FROM purchase
SELECT CAST(AVG(price) AS DECIMAL(9, 2)) FROM purchase
SELECT AVG(price)::DECIMAL(9, 2) FROM purchase
SELECT FLOOR(AVG(price)), CEIL(AVG(price)), CEILING(AVG(price)) FROM purchase
SELECT ABS(SUM(balance) - 10000), SIGN(SUM(balance) - 10000) FROM account
SELECT GREATEST(COUNT(*), 100), LEAST(COUNT(*), 100) FROM account
SELECT COALESCE(SUM(balance), 0) FROM account
SELECT IFNULL(SUM(balance), 0) FROM account
SELECT COALESCE(AVG(price) FILTER (WHERE price > 1000), 0) FROM purchase
SELECT COUNT(*) % 7, COUNT(*) // 7, MOD(COUNT(*), 7) FROM account
SELECT CASE WHEN COUNT(*) > 50 THEN 'many' ELSE 'few' END FROM account
SELECT CASE WHEN COUNT(*) > 500 THEN 'many' WHEN COUNT(*) > 50 THEN 'some' ELSE 'few' END AS how FROM account
SELECT IF(COUNT(*) > 50, COUNT(*), 0) FROM account
SELECT CASE COUNT(*) WHEN 60 THEN 'sixty' END FROM account
SELECT COUNT(*) > 50 AS big, NOT COUNT(*) > 50, COUNT(*) BETWEEN 1 AND 9, COUNT(*) IN (60, 61) FROM account
SELECT COUNT(*) = 60 AND SUM(balance) > 0, COUNT(*) <> 60 OR SUM(balance) IS NULL FROM account
SELECT (COUNT(*) > 50)::INT FROM account
SELECT COUNT(*) IS DISTINCT FROM 60, COUNT(*) IS NOT DISTINCT FROM 60 FROM account
SELECT channel, COUNT(*) FROM purchase GROUP BY channel
SELECT channel, COUNT(*) FROM purchase GROUP BY 1
SELECT channel, COUNT(*) FROM purchase GROUP BY ALL
SELECT channel AS c, COUNT(*) FROM purchase GROUP BY c
SELECT COUNT(*), channel FROM purchase GROUP BY channel
SELECT COUNT(*) FROM purchase GROUP BY channel
SELECT p.channel, COUNT(*) FROM purchase AS p GROUP BY p.channel
SELECT p.channel, COUNT(*) FROM purchase p GROUP BY channel
SELECT Channel, COUNT(*) FROM Purchase GROUP BY CHANNEL ORDER BY CHANNEL
SELECT "channel", COUNT(*) FROM purchase GROUP BY "channel"
SELECT DISTINCT channel, COUNT(*) FROM purchase GROUP BY channel
SELECT channel, COUNT(*) FROM purchase GROUP BY channel ORDER BY channel
SELECT channel, COUNT(*) FROM purchase GROUP BY channel ORDER BY 2 DESC
SELECT channel, COUNT(*) FROM purchase GROUP BY channel ORDER BY COUNT(*) DESC LIMIT 1
SELECT channel, COUNT(*) AS n FROM purchase GROUP BY channel ORDER BY n DESC LIMIT 2 OFFSET 1
SELECT channel, COUNT(*) AS n FROM purchase GROUP BY channel ORDER BY n OFFSET 1
SELECT channel, COUNT(*) AS n FROM purchase GROUP BY channel ORDER BY n DESC FETCH FIRST 2 ROWS ONLY
SELECT channel, COUNT(*) AS n FROM purchase GROUP BY channel ORDER BY -n
SELECT channel, COUNT(*) AS n FROM purchase GROUP BY channel ORDER BY n * 2 DESC, channel
SELECT channel, COUNT(*) AS n FROM purchase GROUP BY channel ORDER BY ALL
SELECT channel, COUNT(*) FROM purchase GROUP BY channel ORDER BY SUM(price) DESC
SELECT channel FROM purchase GROUP BY channel ORDER BY SUM(price) DESC
SELECT channel, AVG(price) FILTER (WHERE price > 50.5) AS dear FROM purchase GROUP BY channel ORDER BY dear NULLS FIRST, channel
SELECT channel, AVG(price) FILTER (WHERE price > 50.5) AS dear FROM purchase GROUP BY channel ORDER BY dear DESC NULLS LAST, channel
SELECT channel, COUNT(*) FROM purchase GROUP BY channel ORDER BY CASE channel WHEN 'web' THEN 1 WHEN 'phone' THEN 2 ELSE 3 END
SELECT channel, COUNT(*) FROM purchase GROUP BY channel ORDER BY channel = 'shop' DESC, channel
SELECT channel, COUNT(*) FROM purchase GROUP BY channel HAVING COUNT(*) > 60
SELECT channel, COUNT(*) AS n FROM purchase GROUP BY channel HAVING n > 60
SELECT channel, COUNT(*) FROM purchase GROUP BY channel HAVING COUNT(*) > 60 AND SUM(price) < 4000
SELECT channel, COUNT(*) FROM purchase GROUP BY channel HAVING NOT (COUNT(*) > 60 OR channel = 'phone')
SELECT channel, COUNT(*) FROM purchase GROUP BY channel HAVING channel IN ('web', 'phone')
SELECT channel, COUNT(*) FROM purchase GROUP BY channel HAVING channel NOT IN ('web', 'phone')
SELECT channel, SUM(price) FROM purchase GROUP BY channel HAVING SUM(price) BETWEEN 1000 AND 3000
SELECT channel, SUM(price) FROM purchase GROUP BY channel HAVING SUM(price) / COUNT(*) > 25.5
SELECT channel, AVG(price) FROM purchase GROUP BY channel HAVING AVG(price) > 2 * 12 ORDER BY AVG(price)
SELECT channel, COUNT(*) FROM purchase GROUP BY channel HAVING COUNT(*) > (SELECT COUNT(*) FROM purchase) / 3
SELECT channel FROM purchase GROUP BY channel HAVING COUNT(*) > 60
SELECT channel, COUNT(*), ANY_VALUE(channel), MIN(channel), MAX(channel) FROM purchase GROUP BY channel
SELECT CASE channel WHEN 'web' THEN 'online' ELSE 'offline' END AS how, COUNT(*) FROM purchase GROUP BY how
SELECT CASE WHEN price > 20 THEN 'dear' ELSE 'cheap' END AS how, COUNT(*) FROM purchase GROUP BY 1
SELECT CASE WHEN price > 20 THEN 'dear' WHEN price > 10 THEN 'fair' ELSE 'cheap' END, COUNT(*) FROM purchase GROUP BY ALL
SELECT CASE WHEN price > 20 THEN 2 ELSE 1 END AS class, SUM(price) FROM purchase GROUP BY class ORDER BY class
SELECT price > 20 AS dear, COUNT(*) FROM purchase GROUP BY dear
SELECT price > 20, COUNT(*) FROM purchase GROUP BY price > 20
SELECT active, COUNT(*) FROM account GROUP BY active
SELECT grade, COUNT(*) FROM account GROUP BY grade
SELECT grade, active, COUNT(*) FROM account GROUP BY grade, active
SELECT quantity, COUNT(*) FROM purchase WHERE quantity IN (1, 2, 3, 4) GROUP BY quantity
SELECT quantity, COUNT(*) FROM purchase WHERE quantity IN (1, 2) GROUP BY quantity ORDER BY quantity DESC
SELECT year(day) AS y, COUNT(*) FROM purchase WHERE year(day) IN (2024, 2025) GROUP BY y ORDER BY y
SELECT CASE quantity WHEN 1 THEN 'one' WHEN 2 THEN 'two' END AS many, SUM(price) FROM purchase WHERE quantity IN (1, 2) GROUP BY quantity
SELECT quantity + 1, COUNT(*) FROM purchase WHERE quantity IN (1, 2) GROUP BY quantity
SELECT r.name, COUNT(*) FROM account a JOIN region r ON a.region = r.id GROUP BY r.name
SELECT r.name, COUNT(*) FROM account a, region r WHERE a.region = r.id GROUP BY r.name
SELECT r.id, r.name, COUNT(*) FROM account a JOIN region r ON a.region = r.id GROUP BY r.id, r.name
SELECT r.name, r.founded, COUNT(*) FROM account a JOIN region r ON a.region = r.id GROUP BY ALL HAVING r.founded > '1999-12-31' ORDER BY founded
SELECT r."Big Area", COUNT(*) FROM account a JOIN region r ON a.region = r.id GROUP BY r."Big Area"
SELECT year(r.founded) AS y, COUNT(*) FROM account a JOIN region r ON a.region = r.id GROUP BY y ORDER BY y
SELECT upper(r.name) AS name, COUNT(*) FROM account a JOIN region r ON a.region = r.id GROUP BY upper(r.name)
SELECT r.name AS region, COUNT(*) AS n, ROUND(AVG(a.balance), 2) AS mean FROM account a JOIN region r ON r.id = a.region GROUP BY r.name ORDER BY mean DESC LIMIT 3
SELECT r.name, COUNT(DISTINCT p.product) FROM purchase p JOIN account a ON p.account = a.id JOIN region r ON a.region = r.id GROUP BY r.name
SELECT r.name, COUNT(*) FROM (account a JOIN region r ON a.region = r.id) GROUP BY r.name
SELECT r.name, COUNT(*) FROM purchase p JOIN (account a JOIN region r ON a.region = r.id) ON p.account = a.id GROUP BY r.name
SELECT label, COUNT(*) FROM purchase JOIN shelf USING (product) GROUP BY label ORDER BY label
SELECT product, COUNT(*) FROM purchase JOIN shelf USING (product) GROUP BY product ORDER BY product
SELECT s.product, COUNT(*) FROM purchase NATURAL JOIN shelf s GROUP BY s.product ORDER BY 1
SELECT COUNT(*) FROM purchase JOIN shelf USING (product) JOIN (SELECT DISTINCT product FROM shelf WHERE product < 5) few USING (product)
SELECT COUNT(*) FROM purchase INNER JOIN account ON purchase.account = account.id
SELECT COUNT(*) FROM purchase CROSS JOIN region
SELECT COUNT(*) FROM purchase p LEFT JOIN shelf s ON p.product = s.product WHERE s.label LIKE '%3'
SELECT COUNT(*) FROM purchase SEMI JOIN shelf USING (product)
SELECT COUNT(*) FROM account AS t(key, place) WHERE t.place = 1 AND key > 5
SELECT COUNT(*) FROM (SELECT id, balance FROM account) AS t(a, b) WHERE b > 50
SELECT COUNT(*) FROM (SELECT * FROM account WHERE active) t
SELECT COUNT(*) FROM (SELECT a.* FROM account a WHERE a.active) t WHERE t.balance > 10
SELECT COUNT(*) FROM (SELECT id FROM account ORDER BY id)
SELECT COUNT(*) FROM (SELECT product FROM purchase UNION SELECT product FROM shelf ORDER BY product) t
SELECT COUNT(*) FROM (SELECT id FROM account UNION ALL SELECT id FROM purchase) t
SELECT COUNT(*) FROM (SELECT product FROM purchase INTERSECT SELECT product FROM shelf) t
SELECT COUNT(*) FROM (VALUES (1), (2)) v(x) JOIN purchase ON quantity = x
WITH a AS (SELECT * FROM account WHERE active) SELECT COUNT(*) FROM a
WITH unused AS (SELECT * FROM purchase) SELECT COUNT(*) FROM account
WITH a AS (SELECT * FROM account), b AS (SELECT * FROM a WHERE active) SELECT COUNT(*) FROM b
WITH a(x, y) AS (SELECT id, balance FROM account) SELECT COUNT(*), SUM(y) FROM a WHERE x > 5
WITH a AS (SELECT * FROM account) SELECT COUNT(*) FROM a x JOIN a y ON x.id = y.id
WITH t AS (SELECT channel, COUNT(*) AS n FROM purchase GROUP BY channel) SELECT * FROM t
WITH t AS (SELECT channel, COUNT(*) AS n FROM purchase GROUP BY channel) SELECT channel, n FROM t WHERE n > 60 ORDER BY n DESC
WITH t AS (SELECT channel, COUNT(*) AS n, SUM(price) AS s FROM purchase GROUP BY channel) SELECT channel, ROUND(s / n, 2) AS mean FROM t ORDER BY mean
WITH t AS (SELECT channel AS c, COUNT(*) AS n FROM purchase GROUP BY c), u AS (SELECT c, n FROM t WHERE n < 200) SELECT u.c FROM u ORDER BY u.n
WITH t(a, b) AS (SELECT channel, COUNT(*) FROM purchase GROUP BY channel) SELECT b, a FROM t ORDER BY b LIMIT 2
SELECT * FROM (SELECT channel, COUNT(*) AS n FROM purchase GROUP BY channel) t ORDER BY n DESC
SELECT t.channel, t.n FROM (SELECT channel, COUNT(*) AS n FROM purchase GROUP BY channel) t WHERE t.n BETWEEN 10 AND 120
SELECT n FROM (SELECT COUNT(*) AS n FROM account) t
SELECT n * 1.0 / m FROM (SELECT COUNT(*) FILTER (WHERE active) AS n, COUNT(*) AS m FROM account) t
SELECT * FROM (SELECT channel, COUNT(*) AS n FROM purchase GROUP BY channel ORDER BY n DESC LIMIT 2) t ORDER BY n LIMIT 1
SELECT COUNT(*) FROM account WHERE balance > (SELECT AVG(balance) FROM account)
SELECT COUNT(*) FROM account WHERE balance > 1.5 * (SELECT AVG(balance) FROM account WHERE active)
SELECT COUNT(*) FROM account WHERE balance >= (SELECT SUM(price) / COUNT(*) FROM purchase)
SELECT COUNT(*) FROM account WHERE balance BETWEEN (SELECT AVG(balance) FROM account) - 10 AND (SELECT AVG(balance) FROM account) + 10
SELECT COUNT(*) FROM account a WHERE a.id < (SELECT COUNT(*) FROM purchase) / 10
SELECT channel, COUNT(*) FROM purchase WHERE price > (SELECT AVG(price) FROM purchase) GROUP BY channel
SELECT COUNT(*) * 100.0 / (SELECT COUNT(*) FROM account) AS share FROM account WHERE active
SELECT channel, 100.0 * COUNT(*) / (SELECT COUNT(*) FROM purchase) AS share FROM purchase GROUP BY channel ORDER BY share DESC
SELECT channel, SUM(price) - (SELECT AVG(price) FROM purchase) * COUNT(*) FROM purchase GROUP BY channel
SELECT SUM(price - (SELECT COUNT(*) FROM account)) FROM purchase
SELECT COUNT(*) FROM account, (SELECT AVG(balance) AS mean FROM account) m WHERE balance > m.mean
SELECT COUNT(*) FROM account CROSS JOIN (SELECT AVG(balance) AS mean, COUNT(*) AS n FROM account) m WHERE balance > mean AND id < n / 2
WITH m AS (SELECT AVG(balance) AS mean FROM account) SELECT COUNT(*) FROM account JOIN m ON balance > mean
SELECT COUNT(*) FROM account WHERE balance > (SELECT AVG(balance) FROM account WHERE balance > (SELECT AVG(balance) FROM account))
WITH m AS (SELECT AVG(balance) AS mean FROM account) SELECT COUNT(*) FROM account WHERE balance > (SELECT mean FROM m)
SELECT r.name, COUNT(*) FROM account a JOIN region r ON a.region = r.id GROUP BY r.name HAVING SUM(balance) > (SELECT SUM(balance) * 0.2 FROM account) ORDER BY SUM(balance) DESC
SELECT COUNT(*) FROM region WHERE id < (SELECT AVG(quantity) FROM purchase)
SELECT COUNT(*) FROM account WHERE region IN (SELECT id FROM region WHERE name LIKE '%th')
SELECT COUNT(*) FROM account WHERE EXISTS (SELECT 1 FROM purchase p WHERE p.account = account.id AND p.price > 20)
SELECT COUNT(*) FROM account WHERE region = (SELECT MAX(id) FROM region)
SELECT (SELECT COUNT(*) FROM purchase) * 1.0 / (SELECT COUNT(*) FROM account)
SELECT (SELECT COUNT(*) FROM purchase) AS a, (SELECT SUM(balance) FROM account) AS b
SELECT (SELECT COUNT(*) FROM region) + (SELECT COUNT(*) FROM account) AS n
SELECT a, b, a - b FROM (SELECT (SELECT COUNT(*) FROM purchase) AS a, (SELECT COUNT(*) FROM account) AS b) t
SELECT COUNT(*) FROM account a WHERE (SELECT BOOL_OR(late) FROM purchase p WHERE p.account = a.id)
SELECT COUNT(*) FROM account a WHERE (SELECT BOOL_AND(quantity > 1) FROM purchase p WHERE p.account = a.id) IS TRUE
SELECT COUNT(*) FROM (SELECT account FROM purchase GROUP BY account HAVING BOOL_OR(late) AND COUNT(*) > 2) d
SELECT SUM(CASE WHEN ever THEN 1 ELSE 0 END) FROM (SELECT account, BOOL_OR(late) AS ever FROM purchase GROUP BY account) d
SELECT COUNT(*) FROM account a, LATERAL (SELECT MAX(price) AS dearest FROM purchase p WHERE p.account = a.id) m WHERE m.dearest > 30
SELECT COUNT(*) FROM account a CROSS JOIN LATERAL (SELECT price FROM purchase p WHERE p.account = a.id ORDER BY price DESC, id LIMIT 2) m WHERE m.price > 30
SELECT COUNT(*) FROM account a LEFT JOIN LATERAL (SELECT COUNT(*) AS n FROM purchase p WHERE p.account = a.id AND late) m ON TRUE WHERE m.n = 0
SELECT COUNT(*) FROM (account JOIN region ON account.region = region.id)
SELECT r.name, COUNT(*) FROM ((purchase p JOIN account a ON p.account = a.id) JOIN region r ON a.region = r.id) GROUP BY r.name
SELECT COUNT(*) FROM purchase p JOIN (account a JOIN region r ON a.region = r.id) ON p.account = a.id WHERE r.name = 'north'
SELECT COUNT(*) FROM purchase JOIN shelf USING (product) JOIN shelf other USING (product) JOIN shelf third USING (product)
SELECT COUNT(*) FROM (SELECT product FROM purchase EXCEPT SELECT product FROM shelf WHERE product < 3 ORDER BY product DESC) t
SELECT COUNT(*) FROM (SELECT id FROM account UNION SELECT account FROM purchase ORDER BY 1) t
WITH second AS (SELECT * FROM account WHERE active), first AS (SELECT * FROM purchase WHERE late) SELECT COUNT(*) FROM first JOIN second ON first.account = second.id
WITH b AS (WITH a AS (SELECT * FROM account WHERE active) SELECT id FROM a) SELECT COUNT(*) FROM b
SELECT v.name, COUNT(*) FROM (VALUES (1, 'one'), (2, 'two')) v(x, name) JOIN purchase ON quantity = v.x GROUP BY v.name
SELECT channel AS "Where", COUNT(*) AS "How Often" FROM Purchase GROUP BY "Where" ORDER BY "How Often" DESC
SELECT channel, COUNT(*) AS n FROM purchase GROUP BY 1 HAVING n > 60 ORDER BY n
SELECT COUNT(*) FROM region x, (purchase p RIGHT JOIN account a ON p.account = a.id AND p.product > 5)
SELECT COUNT(*) FROM region x JOIN (purchase p RIGHT JOIN account a ON p.account = a.id AND p.product > 90) ON x.id < 3
SELECT COUNT(*) FROM region x JOIN (purchase p FULL JOIN shelf s ON p.product = s.product AND p.product > 5) ON x.id < 3
SELECT COUNT(*), SUM(price) FROM region x, ((purchase p RIGHT JOIN account a ON p.account = a.id AND late) JOIN shelf USING (product))
SELECT v.x, COUNT(*), SUM(price) FROM (VALUES (1, DATE '2024-02-01'), (2, DATE '2024-03-01')) v(x, y) JOIN purchase ON quantity = v.x AND day < v.y GROUP BY v.x
