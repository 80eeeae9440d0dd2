SELECT reason, COUNT(*) AS visits, AVG(cost) AS cost FROM visit GROUP BY reason;

SELECT month(day) AS month, COUNT(DISTINCT patient) AS patients FROM visit GROUP BY 1;

SELECT MEDIAN(cost) FROM visit;
