-- rows
select * from t
select a, b + 1 as c, s from t where a > 1 or b is null
select t.*, 1 as one from t
select * exclude (f) from t
select * replace (a + 1 as a) from t
select a + 1 as z, z * 2 as w from t where z > 1
select 1 as one, 'x' as x, null as nothing
select upper(s), length(s), s || '!' from t where s like 'x%'
select case when a > 1 then s else 'none' end from t
select T."A", "t"."B" from T
select a from t where d between date '2020-01-01' and date '2020-01-03'
select f, f + 1 from t where not isnan(f)
select cast(m as integer), m * m, m - b from t
-- joins
select t.a, u.x from t, u where t.a = u.a
select t.a, u.x from t join u on t.a = u.a and u.x > t.b
select t.a, u.x from t left join u on t.a = u.a and u.x > 10
select t.a, u.x from t right join u on t.a = u.a
select t.a, u.x from t full join u on t.a = u.a and t.b = u.x
select a, b, x from t join u using (a)
select a, b, x from t left join u using (a)
select a, b, x from t right join u using (a)
select a, b, x from t full join u using (a)
select * from t natural join u
select count(*) from t cross join u
select a from t semi join u using (a)
select a from t anti join u using (a)
select t.a from t semi join u on t.a = u.a and u.x > 1
select t.a from t anti join u on t.a < u.a
select count(*) from t, u right join t as t2 on u.a = t2.a
select t.a, b.x from t join (u b join u c on b.a = c.a) on t.a = b.a
select t.a, b.x, c.x from t left join (u b join u c on b.a = c.x) on t.a = b.a
select j.a, j.x from (t join u using (a)) j
select x.a, y.a, z.a from t x left join u y on x.a = y.a left join t z on y.x = z.b
select t.f, w.f from t join t w on t.f = w.f
select t.a, v.n from t join v on t.a = v.a
-- queries in FROM
select z.c from (select a + 1 as c from t) z where z.c > 1
select p, q from (select a, b from t) z(p, q)
select x from (select t.a as x, u.a as x from t, u) d
select n.x, n.y from (values (1, 'a'), (2, 'b'), (null, 'c')) n(x, y)
select t.a, n.y from t join (values (1, 'a'), (2, 'b')) n(x, y) on t.a = n.x
select t.a, z.k from t, lateral (select count(*) as k from u where u.a = t.a) z
select t.a, z.k from t, (select count(*) as k from u where u.a = t.a) z
select t.a, z.x from t left join lateral (select u.x from u where u.a = t.a and u.x > t.b) z on z.x > 0
with c as (select a, count(*) as n from t group by a) select * from c where n > 1
with c as (select a from t), e as (select a from c where a > 1) select count(*) from c, e
with c(p) as (select a from t) select x.p, y.p from c x join c y on x.p = y.p
with c as (select a from t) select * from (with e as (select a + 1 as b from c) select b from e) z
select * from v where n >= 2
-- sets
select a from t union select a from u
select a from t union all select x from u
select a from t intersect select a from u
select a from t intersect all select a from u
select a from t except select a from u
select a from t except all select a from u
select a from t union select x from u intersect select b from t
(select a from t union all select a from u) except select b from t
select a, f from t union select a, 1.5 from u
select s from t union select 'x'
select f from t union select f from t
select a from t union all select a from u order by a desc nulls first limit 3
select * from (select a, 'l' as side from t union all select a, 'r' from u) z where a is not null
-- groups
select a, count(*), count(b), count(distinct b) from t group by a
select a, sum(b), avg(b), min(b), max(b) from t group by a
select count(*), sum(b), avg(b), min(s), max(d) from t
select count(*), sum(b), max(s) from t where a > 99
select a, sum(b) as total from t group by a having sum(b) > 1 and count(*) >= 1
select a % 2 as odd, count(*) from t group by odd
select a % 2, count(*) from t group by 1
select a, s, count(*) from t group by all
select f, count(*) from t group by f
select k, count(*), sum(m), avg(m) from t group by k
select a + b as c, a + b + count(*) from t group by a + b
select a, count(*) filter (where b > 1), sum(b) filter (where s = 'x') from t group by a
select a, count_if(b > 1), bool_and(b > 0), bool_or(k) from t group by a
select a, any_value(a), count(*) from t group by a
select sum(distinct b), avg(distinct b), count(distinct s) from t
select max(n) from (select a, count(*) as n from t group by a) z
select n, count(*) from (select a, count(*) as n from t group by a) z group by n
select count(*) from t having count(*) > 2
select a, case when count(*) > 1 then 'many' else 'one' end from t group by a
select a, sum(b) * 100.0 / count(*) from t group by a order by 2 desc, 1
select sum(case when b > 1 then m else 0 end) / nullif(sum(m), 0) from t
select count(x > 3 or null) from u
select year(d), month(d), count(*) from t group by year(d), month(d)
select sum(m * m), sum(m * m * m), sum(k) from t
select sum(x * x * x), avg(x * x) from u
select a, sum(f), avg(f) from t where isfinite(f) group by a
select s, string_of from (select s, max(s) as string_of from t group by s) z
select a as b, sum(b) from t group by a
select t.a, count(u.x) from t left join u on t.a = u.a group by t.a
-- order and frequency
select a, median(b), quantile_cont(b, 0.25), quantile_disc(b, 0.75) from t group by a
select percentile_cont(0.3) within group (order by b desc), percentile_disc(0.5) within group (order by s) from t
select median(m), median(d), median(f) from t where isfinite(f)
select a, arg_min(b, m), arg_max(b, m), arg_max(s, d) from (select distinct on (a, m) * from t where s is not null order by b, d, s) z group by a -- open
select a, mode(s) from t group by a -- open
select a, first(s order by b), last(s order by b) from t group by a -- open
select a, first(b order by b), last(b order by b nulls first) from t group by a
select a, first(s), any_value(b) from t group by a -- open
select stddev(b), stddev_pop(b), var_samp(m), variance(b), var_pop(m) from t
select a, stddev_samp(b), var_pop(f) from t where isfinite(f) group by a
select covar_pop(a, b), covar_samp(a, m) from t
select corr(a, b), regr_slope(a, b) from t where b is not null and a is not null having var_pop(a) > 0 and var_pop(b) > 0
-- windows
select a, b, row_number() over (partition by a order by b, d, s, f, m, k) from t
select a, row_number() over (order by b) from t -- open
select a, b, rank() over (partition by a order by b desc), dense_rank() over (order by s) from t
select percent_rank() over (order by b), cume_dist() over (order by b) from t
select b, ntile(3) over (order by b) from t -- open
select b, ntile(3) over (order by b) from (select distinct b from t) z
select b, lag(b) over (order by b), lead(b, 2, 0) over (order by b) from t
select b, lag(b, 1) over (order by b nulls first) from t
select b, first_value(b) over (order by b), last_value(b) over (order by b) from t
select b, last_value(b) over (order by b rows between unbounded preceding and unbounded following) from t
select b, nth_value(b, 2) over (order by b), first_value(b ignore nulls) over (order by b desc nulls first) from t
select a, sum(b) over (partition by a), count(*) over () from t
select a, b, sum(b) over (partition by a order by b) from t
select a, b, sum(b) over (partition by a order by b rows between 1 preceding and current row) from t -- open
select b, sum(b) over (order by b rows between unbounded preceding and current row) from t
select b, avg(b) over (order by b rows 2 preceding), max(b) over (order by b range between 1 preceding and 1 following) from t
select d, count(*) over (order by d range between interval 2 days preceding and current row) from t
select m, sum(m) over (order by m range between 1 preceding and current row) from t
select b, count(*) over (order by b groups between 1 preceding and current row) from t
select a, sum(m) over w, rank() over w from t window w as (partition by a order by m)
select a, count(*) over (w order by b) from t window w as (partition by a)
select a, row_number() over (order by b, s, d), row_number() over (order by b desc, s desc, d desc) from (select distinct a, b, s, d from t) z -- open
select a, sum(count(*)) over (), rank() over (order by count(*) desc) from t group by a
select a, count(*) as n, max(count(*)) over () as most from t group by a having count(*) >= 1
select a, b from t qualify rank() over (partition by a order by b desc) = 1
select a, count(*) from t group by a qualify rank() over (order by count(*) desc) <= 2
select a, b, b - lag(b) over (partition by a order by b) as step from t
select a, sum(b) filter (where k) over (partition by a) from t
select * from (select a, b, row_number() over (partition by a order by b, s, d, f, m, k) as n from t) z where n <= 2
select a, median(b) over (partition by a), mode(b) over (partition by a) from (select distinct a, b from t where b is not null) z -- open
select s, avg(m) over (partition by s) as mean, m - avg(m) over (partition by s) from t
select a, row_number() over (), row_number() over (order by b desc) from t -- open
-- distinct, order, limit
select distinct a, s from t
select distinct f from t
select distinct on (a) a, b from t order by a, b desc
select distinct on (a) a, s from t order by a, b -- open
select distinct on (a) a, b from t -- open
select a, b from t order by b desc nulls last, a, s limit 3
select a from t order by b limit 2 -- open
select b from t order by 1 limit 2 offset 1
select b from t order by b nulls first fetch first 3 rows only
select distinct a from t order by a desc limit 2
select a, count(*) as n from t group by a order by n desc, a limit 2
select b from (select b from t order by b limit 3) z
(select b from t order by b limit 2) union all (select b from t order by b desc limit 2)
select a from t limit 0
select s, b from t order by all limit 4
-- subqueries in expressions
select a from t where exists (select 1 from u where u.a = t.a)
select a from t where not exists (select 1 from u where u.a = t.a and u.x > t.b)
select a from t where a in (select a from u)
select a from t where a not in (select a from u)
select a from t where a not in (select a from u where a is not null)
select a from t where (a, b) in (select a, x from u)
select a, (a, b) not in (select a, x from u) from t
select a from t where b = any (select x from u)
select a from t where b < all (select x from u)
select a from t where b <> all (select x from u where u.a = t.a)
select a, b >= any (select x from u where u.a = t.a) from t
select a, (select max(x) from u where u.a = t.a) from t
select a, (select count(*) from u where u.a = t.a) + 1 from t
select a from t where b > (select avg(x) from u)
select a, (select x from u where u.a = t.a order by x limit 1) from t
select a, (select min(b) from t t2 where t2.a = t.a and t2.b > t.b) from t
select a, (select count(*) from u where u.a = t.a) as n, count(*) from t group by a
select a from t group by a having count(*) > (select count(*) from u where u.a = t.a)
select sum((select count(*) from u where u.a = t.a)) from t
select a from t where exists (select 1 from u where u.a = t.a and exists (select 1 from t t2 where t2.b = u.x and t2.a = t.a))
select (select sum(z.k) from (select count(*) as k from u where u.a = t.a group by u.x) z) from t
select a, (select max(n) from (select row_number() over (order by x, m) as n from u where u.a = t.a) z) from t
select a, exists (select 1 from u where u.a = t.a) as has, case when a in (select x from u) then 1 else 0 end from t
select t.a from t left join u on t.a = u.a and u.x in (select b from t) where u.a is null
select a, row_number() over (order by (select max(x) from u where u.a = t.a), a, b, s, d, f, m, k) from t -- open
select a, (select k from (select a, count(*) as k from u group by a) g where g.a = t.a) from t
select a from t where s in (select s from t t2 where t2.a = t.a + 1)
select a from t where b between (select min(x) from u) and (select max(x) from u)
select a from t where f in (select f from t where b > 1)
select a, (select max(x) from u where u.a = t.a union select 7 order by 1 limit 1) from t
select (select a from t where false), (select count(*) from t where false)
with c as (select a, sum(x) as n from u group by a) select t.a, c.n from t left join c on t.a = c.a where coalesce(c.n, 0) < (select max(n) from c)
select a from t where (select bool_or(u.x > t.b) from u where u.a = t.a)
