# What people ask of tables.
SELECT region, sum(amount) AS total FROM tbl_1 GROUP BY ALL ORDER BY 2 DESC
FROM "sales.csv" SELECT max(n)
SELECT * EXCLUDE (n) REPLACE (amount*2 AS amount) FROM tbl_1
SELECT * FROM (PIVOT tbl_1 ON region IN ('North','South') USING sum(n))
PIVOT tbl_1 ON region USING sum(n)
WITH x AS (FROM tbl_1) SELECT * FROM (PIVOT x ON region USING sum(n)) JOIN tbl_1 USING (day)
UNPIVOT (SELECT n, amount FROM tbl_1) ON n, amount
SELECT strftime(day, '%Y-%m'), date_trunc('month', day), extract(year FROM day), day + INTERVAL 1 MONTH, date_diff('day', day, current_date), year(day), now() AT TIME ZONE 'Europe/Berlin' FROM tbl_1
SELECT a.n, b.n FROM tbl_1 a ASOF JOIN tbl_1 b ON a.n >= b.n
SELECT * FROM tbl_1 QUALIFY row_number() OVER (PARTITION BY region ORDER BY n) = 1
SELECT [n, 2], {'a': n}, MAP {'x': 1}, [x*2 for x in [1,2] if x > 1], list_transform([1], lambda x: x + 1), [1,2][1], 'a'.upper(), {'a':1}.a FROM tbl_1
SELECT try_cast(region AS DOUBLE), replace(region, 'a', ''), regexp_extract(region, '(.)', 1), region ILIKE 'n%', region SIMILAR TO 'N.*', region GLOB 'N*', region ~ 'N.*', printf('%d', n), format('{}', n) FROM tbl_1
SELECT unnest(generate_series(DATE '2024-01-01', DATE '2024-03-01', INTERVAL 1 MONTH)) AS m
SELECT * FROM range(5) r(x), generate_series(1,3) g(y)
SELECT quantile_cont(n, 0.5), median(n), mode(region), string_agg(region, ','), list(n ORDER BY n DESC), arg_max(region, n), approx_count_distinct(n), histogram(n), count(*) FILTER (WHERE n > 1), stddev(n), corr(n, amount) FROM tbl_1
WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 5) SELECT * FROM c
WITH x AS MATERIALIZED (SELECT 1 a), y AS (FROM x) SELECT * FROM y UNION ALL BY NAME SELECT 2 AS a
SELECT CASE WHEN n > 1 THEN 'a' ELSE 'b' END, coalesce(day, current_date), nullif(n, 1), ifnull(day, current_date), greatest(1,2), n % 2, n // 2, n ** 2, -n, n BETWEEN 1 AND 2, n IN (1,2), NOT (n IS NULL), n::VARCHAR || 'x', n IS DISTINCT FROM 2, if(n>1,1,2) FROM tbl_1
SELECT region, n, sum(n) OVER (ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW), lag(n) OVER w, first_value(n) OVER w, ntile(2) OVER w FROM tbl_1 WINDOW w AS (ORDER BY n)
SELECT region, grouping(region), sum(n) FROM tbl_1 GROUP BY ROLLUP (region)
SELECT COLUMNS('n|amount') FROM tbl_1
SELECT json_extract('{"a":1}', '$.a'), '{"a":1}'::JSON ->> 'a', to_json([1]), json_object('a', 1) 
SELECT * FROM tbl_1 USING SAMPLE 2 ROWS
SELECT * FROM tbl_1 WHERE EXISTS (SELECT 1 FROM tbl_1 b WHERE b.n = tbl_1.n) AND n > ALL (SELECT 0) ORDER BY ALL LIMIT 50%
SELECT strptime('03/04/2024', '%d/%m/%Y'), TIMESTAMP '2024-01-01 00:00:00', INTERVAL '3 days', epoch(now()), to_timestamp(5), make_date(2024,1,1), last_day(current_date), dayname(current_date), time_bucket(INTERVAL 1 WEEK, current_date)
VALUES (1,2),(3,4)
SELECT * FROM (VALUES (1,'a')) v(id, name)
SELECT DISTINCT ON (region) * FROM tbl_1 ORDER BY region, n
SELECT a.* FROM tbl_1 a SEMI JOIN tbl_1 b USING (n), tbl_1 c POSITIONAL JOIN tbl_1 d
SELECT levenshtein('a','b'), jaro_winkler_similarity('a','b'), md5('x'), lpad('a',5,' '), split_part('a b',' ',1), string_split('a b',' '), trim(' x '), contains('abc','b'), starts_with('a','a'), length('abc'), substring('abc',1,2), left('abc',1), position('b' IN 'abc'), strip_accents('é'), concat_ws(',', 'a'), upper('x')
SELECT current_timestamp, today(), current_date, localtimestamp, random(), uuid(), typeof(1), hash(1), abs(-1), round(1.5,1), floor(1.5), sqrt(2), ln(2), log(10), power(2,3), pi(), sign(-1), isnan(1.0)
WITH a AS (SELECT n FROM tbl_1), B AS (SELECT * FROM A WHERE n > 1), c AS (WITH a AS (SELECT 5 AS n) SELECT * FROM a) SELECT * FROM b, c
WITH tbl_1 AS (SELECT * FROM tbl_1 WHERE n > 1) SELECT * FROM tbl_1
SELECT region, n FROM tbl_1 WHERE n > (WITH m AS (SELECT avg(n) AS a FROM tbl_1) SELECT a FROM m)
WITH RECURSIVE c AS (SELECT 1 AS n UNION SELECT c.n + 1 FROM c, tbl_1 WHERE c.n < 4), d AS (SELECT * FROM c) SELECT sum(n) FROM d
WITH daily AS (SELECT day, sum(amount) AS total FROM tbl_1 GROUP BY day) SELECT day, total, avg(total) OVER (ORDER BY day ROWS 6 PRECEDING) AS week FROM daily ORDER BY day
SELECT region, count(*) AS n, round(100 * count(*) / sum(count(*)) OVER (), 1) AS share FROM tbl_1 GROUP BY region
SELECT * FROM (SELECT region, n FROM tbl_1) PIVOT (sum(n) FOR region IN ('North', 'South'))
SELECT region, amount FROM tbl_1 ORDER BY amount DESC NULLS LAST LIMIT 3 OFFSET 1
SELECT date_trunc('quarter', day) AS q, sum(amount) FILTER (WHERE region = 'North') AS north FROM tbl_1 GROUP BY q HAVING count(*) > 0
SELECT a.region, b.n FROM tbl_1 a LEFT JOIN LATERAL (SELECT max(n) AS n FROM tbl_1 t WHERE t.region = a.region) b ON true
SELECT region, list(n ORDER BY n)[1] AS first, list_sum(list(n)), len(list(n)) FROM tbl_1 GROUP BY region
SELECT unnest(string_split('a,b', ',')) AS part, unnest({'x': 1, 'y': 2}) FROM tbl_1
SELECT width.bucket, count(*) FROM (SELECT floor(amount / 5) * 5 AS bucket FROM tbl_1) AS width GROUP BY ALL
SELECT month(day) AS m, monthname(day), dayname(day), week(day), strftime(day, '%B %Y') FROM tbl_1 WHERE day >= DATE '2026-01-01'
SELECT region FROM tbl_1 INTERSECT SELECT region FROM tbl_1 WHERE n > 1 EXCEPT SELECT 'x'
