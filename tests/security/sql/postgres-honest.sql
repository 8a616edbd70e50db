# What people ask PostgreSQL.
SELECT region, sum(amount) FROM sales GROUP BY 1 ORDER BY 2 DESC NULLS LAST LIMIT 10
WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM c WHERE n < 10) SELECT * FROM c
SELECT o.id, c.name FROM orders AS o LEFT JOIN customers c ON c.id = o.customer_id WHERE o.at >= DATE '2024-01-01' AND o.at < now() - interval '3 months'
SELECT date_trunc('month', at) AS m, count(*) FILTER (WHERE amount > 5), avg(amount)::numeric(10,2) FROM sales GROUP BY 1 HAVING count(*) > 1
SELECT x, rank() OVER (PARTITION BY y ORDER BY z), lag(x, 1) OVER w FROM t WINDOW w AS (ORDER BY z ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) FROM sales
SELECT d::date FROM generate_series('2024-01-01'::date, '2024-12-01', '1 month') AS g(d)
SELECT data->>'name', data #>> '{a,b}', jsonb_array_elements(data->'items') FROM events WHERE data @> '{"a":1}' AND data ? 'k'
SELECT EXTRACT(YEAR FROM at), to_char(at, 'YYYY-MM'), at AT TIME ZONE 'UTC', age(at), coalesce(a, b, 0), nullif(a, 0), greatest(a, b) FROM t
SELECT * FROM a JOIN LATERAL (SELECT * FROM b WHERE b.a_id = a.id ORDER BY b.at DESC LIMIT 1) x ON true
SELECT string_agg(DISTINCT name, ', ' ORDER BY name), array_agg(id), bool_or(x), count(DISTINCT y) FROM t
SELECT CASE WHEN a ILIKE '%x%' THEN 'y' WHEN b SIMILAR TO 'z' THEN 'q' ELSE NULL END, a ~* 'foo', split_part(a, ',', 1), substring(a from 1 for 3), substring(a, 'x+'), position('a' in b), trim(both ' ' from a), overlay(a placing 'x' from 1), a || b FROM t
SELECT 1 UNION SELECT 2 EXCEPT SELECT 3 INTERSECT SELECT 4
SELECT region, product, sum(n) FROM t GROUP BY GROUPING SETS ((region), (product), ()), ROLLUP (a, b)
SELECT region, grouping(region) FROM t GROUP BY CUBE (region, x)
SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS v(id, name)
SELECT DISTINCT ON (customer_id) * FROM orders ORDER BY customer_id, at DESC
SELECT id FROM t WHERE id = ANY(ARRAY[1,2,3]) AND EXISTS (SELECT 1 FROM u WHERE u.id = t.id) AND x IN (SELECT y FROM v) AND NOT (a IS DISTINCT FROM b) AND z IS NOT NULL AND x BETWEEN 1 AND 2
SELECT (a, b) IN ((1,2),(3,4)), ROW(1,2), arr[1], arr[1:2], cardinality(arr) FROM t
SELECT u.tag, count(*) FROM posts p CROSS JOIN unnest(p.tags) AS u(tag) GROUP BY 1
SELECT key, value FROM events, jsonb_each_text(data)
SELECT * FROM jsonb_to_recordset('[{"a":1}]') AS x(a int, b text)
SELECT public.orders.id, orders.* FROM public.orders FETCH FIRST 5 ROWS ONLY
SELECT "Order Id", "t"."Total" FROM "My Table" "t" OFFSET 5
SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'
SELECT round(100.0 * sum(a) / sum(sum(a)) OVER (), 1) AS pct, width_bucket(a, 0, 100, 10), ntile(4) OVER (ORDER BY a) FROM t GROUP BY a
SELECT regexp_replace(a, '[^0-9]', '', 'g'), lower(a), initcap(a), left(a, 2), length(a), md5(a), lpad(a, 5, '0'), concat_ws(' ', a, b), format('%s', a) FROM t
SELECT to_timestamp(1700000000), CURRENT_DATE, CURRENT_TIMESTAMP, make_date(2024,1,1), date_part('dow', at), justify_days(interval '40 days'), extract(epoch from at - b) FROM t
SELECT corr(a,b), regr_slope(a,b), stddev_samp(a), var_pop(a), mode() WITHIN GROUP (ORDER BY a) FROM t
SELECT first_value(a) OVER (ORDER BY b), cume_dist() OVER (ORDER BY b), row_number() OVER () FROM t TABLESAMPLE SYSTEM (10)
SELECT CAST(a AS bigint), a::text::int, '5'::double precision, b::varchar(20), c::timestamp with time zone, d::uuid, e::int[] , f::jsonb, '1'::numeric FROM t
WITH a AS MATERIALIZED (SELECT 1 AS n), b AS (SELECT n FROM a) SELECT b.n, a.n FROM a NATURAL JOIN b
SELECT count(*) FROM t WHERE to_tsvector('english', body) @@ plainto_tsquery('english', 'hello')
SELECT a FROM t ORDER BY a COLLATE "C"
SELECT sum(CASE WHEN x THEN 1 ELSE 0 END)::float / nullif(count(*), 0) FROM t
SELECT * FROM t WHERE at > CURRENT_DATE - 7 AND name LIKE 'a!_%' ESCAPE '!'
SELECT jsonb_agg(jsonb_build_object('a', a)), json_object_agg(k, v), row_to_json(t) FROM t
(SELECT 1) UNION ALL (SELECT 2)
SELECT -a, +b, ~c, a % 2, a ^ 2, a & b, a | b, a << 1, |/ 4 FROM t
SELECT * FROM ROWS FROM (generate_series(1,2), generate_series(1,3)) AS x(a,b)
SELECT n, s FROM generate_series(1, 3) WITH ORDINALITY AS t(n, s)
SELECT INTERVAL '1 day' * 3, DATE '2024-01-01' + 1, TIMESTAMP '2024-01-01 10:00', (a).b.c FROM t
SELECT sum(a) FILTER (WHERE b) OVER (PARTITION BY c) FROM t
