SELECT COUNT(*) FROM orders;

SELECT r.name AS region, month(o.day) AS month, SUM(l.quantity * l.price) AS revenue
FROM line l
JOIN orders o ON l.order_id = o.id
JOIN customer c ON o.customer = c.id
JOIN region r ON c.region = r.id
GROUP BY 1, 2 ORDER BY 2, 1;

SELECT COUNT(*) FROM customer c
WHERE (SELECT COUNT(*) FROM orders o WHERE o.customer = c.id) > 5;
