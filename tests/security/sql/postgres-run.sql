# What people ask PostgreSQL, run on a server.
WITH m AS (SELECT date_trunc('month', at) AS mon, sum(price) AS s FROM visits GROUP BY 1) SELECT mon, s, s - lag(s) OVER (ORDER BY mon) AS diff, round(100 * (s / nullif(lag(s) OVER (ORDER BY mon), 0) - 1), 1) AS pct FROM m ORDER BY mon
SELECT to_char(at, 'IYYY-"W"IW') wk, count(*) FROM visits GROUP BY wk
SELECT k.name, k.price, k.at::date AS day FROM visits k WHERE k.at > now() - interval '90 days' ORDER BY k.at DESC LIMIT 20
SELECT name, count(*) AS n, count(*) FILTER (WHERE price > 2) AS big, 100.0 * count(*) FILTER (WHERE price > 2) / count(*) AS share FROM visits GROUP BY name
SELECT percentile_cont(ARRAY[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY price) FROM visits
SELECT k.name, t.tag FROM visits k CROSS JOIN LATERAL unnest(k.tags) AS t(tag)
SELECT k.id, e.value, e.ordinality FROM visits k, jsonb_array_elements(k.data -> 'a') WITH ORDINALITY AS e(value, ordinality)
SELECT k.data ->> 'a' AS a, k.data #>> '{a,0}' FROM visits k WHERE k.data ? 'a'
SELECT id, sum(price) OVER (PARTITION BY name ORDER BY at ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) FROM visits
SELECT id, avg(price) OVER w, stddev_samp(price) OVER w FROM visits WINDOW w AS (PARTITION BY name ORDER BY at RANGE BETWEEN INTERVAL '7 days' PRECEDING AND CURRENT ROW)
SELECT EXTRACT(DOW FROM at) AS dow, EXTRACT(HOUR FROM at AT TIME ZONE 'Europe/Berlin') AS h, count(*) FROM visits GROUP BY 1, 2 ORDER BY 1, 2
SELECT CASE WHEN price < 1 THEN 'low' WHEN price BETWEEN 1 AND 5 THEN 'mid' ELSE 'high' END AS bucket, count(*) FROM visits GROUP BY 1
SELECT a.id, b.id FROM visits a FULL OUTER JOIN visits b USING (id)
SELECT coalesce(name, 'all'), sum(price), GROUPING(name) FROM visits GROUP BY GROUPING SETS ((name), ())
SELECT name, sum(price) FROM visits GROUP BY ROLLUP(name) HAVING sum(price) > 0
SELECT DISTINCT ON (name) name, at, price FROM visits ORDER BY name, at DESC
SELECT regexp_replace(name, '\s+', ' ', 'g'), name ~* '^a', substring(name FROM '[0-9]+'), regexp_matches(name, '([a-z])', 'g') FROM visits
SELECT string_agg(name || ' (' || price::text || ')', E'\n' ORDER BY price DESC) FROM visits
SELECT d::date, count(k.id) FROM generate_series(date_trunc('day', now()) - interval '6 day', now(), interval '1 day') d LEFT JOIN visits k ON k.at::date = d::date GROUP BY 1 ORDER BY 1
SELECT array_agg(DISTINCT name ORDER BY name) FROM visits
SELECT (array_agg(name ORDER BY at DESC))[1] AS latest FROM visits
SELECT age(now(), at), justify_interval(now() - at), EXTRACT(EPOCH FROM now() - at) / 3600 AS hours FROM visits
SELECT name, rank() OVER (ORDER BY sum(price) DESC) FROM visits GROUP BY name
SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY name ORDER BY at DESC) rn FROM visits) x WHERE rn = 1
SELECT id FROM visits WHERE (name, price) IN (SELECT name, max(price) FROM visits GROUP BY name)
SELECT id FROM visits WHERE NOT EXISTS (SELECT 1 FROM visits b WHERE b.id = visits.id + 1)
SELECT width_bucket(price, 0, 10, 5) AS bin, count(*), min(price), max(price) FROM visits GROUP BY bin ORDER BY bin
SELECT corr(id, price), covar_pop(id, price), regr_r2(price, id), regr_slope(price, id) FROM visits
SELECT json_agg(row_to_json(x)) FROM (SELECT id, name FROM visits) x
SELECT jsonb_object_agg(name, price) FROM visits
SELECT name FROM visits WHERE at >= '2026-01-01' AND at < '2027-01-01'::timestamptz
SELECT date_part('year', at)::int AS y, date_part('quarter', at)::int AS q, sum(price) FROM visits GROUP BY y, q
SELECT name, first_value(price) OVER (PARTITION BY name ORDER BY at), last_value(price) OVER (PARTITION BY name ORDER BY at ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING), nth_value(price, 2) OVER (PARTITION BY name ORDER BY at) FROM visits
SELECT trim(name), btrim(name), upper(name), initcap(name), length(name), reverse(name), left(name,1), right(name,1), position('a' in name), strpos(name,'a'), replace(name,'a','b'), split_part(name,'-',1), lpad(name,3,'0'), concat(name,'-',id), md5(name), translate(name,'a','b'), ascii(name), chr(65), to_hex(id) FROM visits
SELECT round(price, 1), ceil(price), floor(price), trunc(price, 1), mod(id, 2), power(price, 2), sqrt(price), ln(price), log(price), exp(1), abs(-price), sign(price), div(price, 2), random(), gcd(4, 6) FROM visits
SELECT make_date(2026, 1, 1) + 30, date '2026-01-31' + interval '1 month', current_date - date '2026-01-01', localtimestamp, date_bin('15 minutes', at, timestamptz '2020-01-01') FROM visits
WITH RECURSIVE t(d) AS (SELECT date '2026-01-01' UNION ALL SELECT (d + interval '1 month')::date FROM t WHERE d < '2026-06-01') SELECT * FROM t
SELECT id::text || '-' || name AS key, price::float8, price::bigint, '12'::int, 'true'::boolean, '{1,2}'::int[] FROM visits
SELECT cast(price as decimal(10,2)), cast(at as date), cast(id as varchar(10)), cast(at as time) FROM visits
SELECT bool_and(price > 1), every(price > 1), bit_or(id), mode() WITHIN GROUP (ORDER BY name), percentile_disc(0.9) WITHIN GROUP (ORDER BY price) FROM visits
SELECT tsrange('2026-01-01', '2026-02-01') @> at::timestamp, daterange('2026-01-01', '2026-02-01') && daterange('2026-01-15', '2026-03-01') FROM visits
SELECT tags && ARRAY['a'], tags @> '{a}', 'a' = ANY(tags), array_length(tags, 1), tags[1:1], array_to_string(tags, ','), cardinality(tags), array_position(tags, 'b') FROM visits
SELECT k.name, x.cnt FROM visits k LEFT JOIN LATERAL (SELECT count(*) AS cnt FROM visits b WHERE b.name = k.name) x ON TRUE
SELECT name, sum(price)::money FROM visits GROUP BY 1
SELECT count(*) FROM visits k WHERE k.name IS NOT DISTINCT FROM NULL OR k.name LIKE ANY(ARRAY['a%','b%']) OR k.name NOT ILIKE '%x%'
SELECT overlay('abc' placing 'x' from 2 for 1), extract(isodow from at), extract(week from at), to_date('01.02.2026','DD.MM.YYYY'), to_number('1,234','9,999') FROM visits
SELECT (at, at + interval '1 day') OVERLAPS (now(), now()) FROM visits
SELECT k.price AS "Total €", k.name AS "Größe" FROM visits AS k
SELECT count(*) AS "count", max(price) AS "max" FROM visits ORDER BY "count" DESC NULLS LAST FETCH FIRST 3 ROWS WITH TIES
SELECT x.* FROM (VALUES (1, 'one'), (2, 'two')) AS x(n, word) JOIN visits ON visits.id = x.n
SELECT sum(s.price) FROM (SELECT DISTINCT name, price FROM visits) s
SELECT s.count, s.max FROM (SELECT name, count(*), max(price) FROM visits GROUP BY 1) s
SELECT t.sum, t.name, t.date FROM (SELECT sum(price) AS sum, name, max(at)::date AS date FROM visits GROUP BY name) t
WITH totals AS (SELECT name, sum(price) AS price, count(*) AS count, avg(price) AS avg FROM visits GROUP BY name) SELECT totals.name, totals.price, totals.count, totals.avg FROM totals
WITH x AS (SELECT id, upper(name) AS upper, length(name) AS size, price AS left FROM visits) SELECT x.upper, x.size, x."left" FROM x
SELECT o.id, o.text, o.version, o.position FROM (SELECT id, name AS text, 1 AS version, 2 AS position FROM visits) o
SELECT p.pid, p.age, p.rank, p.level, p.host, p.user_id, p.type, p.value, p.key, p.status, p.price FROM (SELECT 1 AS pid, 2 AS age, 3 AS rank, 4 AS level, 5 AS host, 6 AS user_id, 7 AS type, 8 AS value, 9 AS key, 10 AS status, 11 AS price) p
SELECT s.schema, s.area, s.area_code, s.timezone, s.numeric, s.length, s.point, s.center, s.path, s.box FROM (SELECT 1 AS schema, 2 AS area, 3 AS area_code, 4 AS timezone, 5 AS numeric, 6 AS length, 7 AS point, 8 AS center, 9 AS path, 10 AS box) s
SELECT TO_CHAR(K.AT, 'YYYY') AS YEAR, SUM(K.PRICE) FROM VISITS K GROUP BY 1
SELECT c.Name, c.PRICE FROM visits c
SELECT sum(price) AS price FROM visits WHERE at::date = (SELECT max(at::date) FROM visits)
SELECT name, count(*) FROM visits GROUP BY name ORDER BY count(*) DESC, name COLLATE "C"
SELECT count(*) FROM visits WHERE at > current_date - 7 * interval '1 day' AND extract(month from at) = 11
SELECT h.hour, count(k.id) FROM generate_series(0, 23) AS h(hour) LEFT JOIN visits k ON extract(hour FROM k.at) = h.hour GROUP BY h.hour ORDER BY h.hour
SELECT pg_catalog.count(*) FROM public.visits
SELECT to_hex(id), log10(price::float8), log(10, price), log(price), E'a\tb\\', $$it's$$, 'a\b' FROM visits
