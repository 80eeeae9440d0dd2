SELECT year, COUNT(*) AS friendships FROM friendship JOIN pupil ON a = id GROUP BY year;

SELECT COUNT(*) FROM friendship x
JOIN friendship y ON x.b = y.a
JOIN friendship z ON y.b = z.b AND x.a = z.a;
