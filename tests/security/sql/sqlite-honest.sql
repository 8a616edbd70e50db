# What people ask SQLite.
SELECT a, count(*) AS n FROM t GROUP BY 1 HAVING count(*) > 0 ORDER BY n DESC LIMIT 5
WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 5) SELECT n FROM c
SELECT row_number() OVER (PARTITION BY a ORDER BY a), lag(a) OVER (ORDER BY a), sum(1) OVER () FROM t
SELECT date('now', '-1 month'), strftime('%Y-%m', '2026-01-01'), julianday('now'), datetime('now')
SELECT substr(a, 1, 2), upper(a), replace(a, 'a', 'b'), trim(a), instr(a, 's'), length(a), a || 'x' FROM t
SELECT coalesce(a, 'x'), ifnull(a, 'x'), nullif(a, 'x'), iif(1, 2, 3), CASE WHEN a LIKE 'v%' THEN 1 ELSE 0 END FROM t
SELECT CAST(a AS REAL), round(1.234, 2), abs(-1), max(a), min(a), avg(1), total(1), group_concat(a, ', ') FROM t
SELECT json_extract('{"a": 1}', '$.a'), '{"a": 1}' ->> 'a', json_group_array(a) FROM t
SELECT value FROM json_each('[1, 2]')
SELECT x.a, y.a FROM t AS x LEFT JOIN t AS y ON x.a = y.a WHERE x.a IN (SELECT a FROM t) AND EXISTS (SELECT 1 FROM t)
SELECT a FROM t UNION ALL SELECT 'b' EXCEPT SELECT 'c'
SELECT name FROM sqlite_master WHERE type = 'table'
SELECT a FROM main.t WHERE a GLOB 'v*' AND a BETWEEN 'a' AND 'z' AND a IS NOT NULL
SELECT printf('%.2f', 1.5), hex(a), typeof(a), quote(a), unicode(a), random() FROM t
WITH RECURSIVE days(d) AS (SELECT 1 UNION ALL SELECT d + 1 FROM days LIMIT 31) SELECT count(*), 'of a month' FROM days
WITH old AS (SELECT * FROM t) SELECT 1 FROM old
