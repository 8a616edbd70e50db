# What DuckDB must not be made to do; tbl_1 and {secret} are the test's.
SELECT * FROM read_text('{secret}')
SELECT * FROM '{secret}'
SELECT * FROM "{secret}"
FROM '{secret}'
SELECT * FROM glob('/*')
SELECT getenv('HOME')
SELECT ('HOME').getenv()
SELECT current_setting('threads')
SELECT * FROM duckdb_settings()
SELECT * FROM duckdb_secrets()
SELECT * FROM query('SELECT 1')
SELECT * FROM query_table('tbl_1')
SELECT * FROM sqlite_master
SELECT * FROM pg_catalog.pg_tables
SELECT * FROM information_schema.tables
SELECT * FROM duckdb_tables
DESCRIBE tbl_1
SHOW TABLES
PRAGMA version
CALL pragma_version()
SELECT * FROM pragma_version()
SELECT sleep_ms(1000)
SELECT pg_sleep(1)
SELECT list_transform(['HOME'], x -> getenv(x))
SELECT [getenv(x) for x in ['HOME']]
SELECT nextval('x')
SELECT write_log('x')
SELECT json_serialize_sql('select 1')
SELECT * FROM json_execute_serialized_sql('x')
SELECT setseed(0.5)
SELECT * FROM (COPY tbl_1 TO '/tmp/x')
SELECT * FROM parquet_metadata('/tmp/x')
SELECT "getenv"('HOME')
SELECT main.getenv('HOME')
SELECT system.main.getenv('HOME')
SELECT * FROM test_all_types()
SELECT * FROM read_duckdb('/tmp/x')
SELECT count(*) FILTER (getenv('HOME')='x') OVER () FROM tbl_1
SELECT 1 ORDER BY getenv('HOME')
SELECT 1 LIMIT (SELECT length(getenv('HOME')))
WITH x AS (FROM read_text('/etc/passwd')) SELECT 1
WITH RECURSIVE x(a) AS (SELECT 1 UNION ALL SELECT a FROM read_text('/etc/passwd')) SELECT * FROM x
SELECT * FROM tbl_1 WHERE region IN (SELECT content FROM read_text('/etc/passwd'))
SELECT * FROM memory.main.other
SELECT error('x')
VALUES (getenv('HOME'))
SELECT COLUMNS(x -> x = getenv('HOME')) FROM tbl_1
SELECT * REPLACE (getenv('HOME') AS region) FROM tbl_1
SELECT x FROM tbl_1 TABLESAMPLE getenv(1)
ATTACH '/tmp/x.db'; SELECT 1
SELECT * FROM sqlite_scan('/tmp/x','y')
SELECT * FROM st_read('/etc/passwd')
SELECT * FROM "tbl_2"
SELECT CAST('/etc/passwd' AS nope)
SELECT range(4000000000)
SELECT repeat('x', 4000000000)
SELECT list(range) FROM range(1000000000)
SELECT a || a FROM (SELECT repeat('y', 900000000) AS a)
SELECT sql FROM duckdb_views, (WITH duckdb_views AS (SELECT 1) SELECT 1) x
SELECT * FROM sqlite_master WHERE EXISTS (WITH sqlite_master AS (SELECT 1) SELECT 1)
WITH duckdb_views AS (SELECT * FROM duckdb_views) SELECT sql FROM duckdb_views
WITH a AS (SELECT sql FROM duckdb_views), duckdb_views AS (SELECT 1) SELECT * FROM a
WITH RECURSIVE duckdb_views AS (SELECT sql FROM duckdb_views UNION ALL SELECT sql FROM duckdb_views WHERE false) SELECT * FROM duckdb_views
SELECT * FROM "{secret}", (WITH "{secret}" AS (SELECT 1) SELECT 1) x
SELECT * FROM "result.parquet", (WITH "result.parquet" AS (SELECT 1) SELECT 1) x
WITH "ſqlite_master" AS (SELECT 1) SELECT sql FROM sqlite_master
WITH "duckdb_viewſ" AS (SELECT 1) SELECT sql FROM duckdb_views
WITH a AS (WITH "pg_ſettings" AS (SELECT 1) SELECT * FROM pg_settings) SELECT * FROM a
WITH RECURSIVE "ſqlite_master" AS (SELECT '' AS sql UNION ALL SELECT sql FROM sqlite_master) SELECT * FROM "ſqlite_master"
SELECT * FROM read_csv('{secret}', header = false)
SELECT * FROM read_blob('/proc/self/environ')
SELECT * FROM sniff_csv('{secret}')
COPY (SELECT 1) TO '{secret}'
SET enable_external_access = true; SELECT * FROM read_text('{secret}')
INSTALL httpfs; LOAD httpfs; SELECT 1
SELECT 1) TO '{secret}' (FORMAT csv); --
SELECT * FROM query('COPY (SELECT 1) TO ''{secret}''')
PIVOT (SELECT * FROM read_csv('{secret}')) ON column0 USING count(*)
PIVOT '{secret}' ON column0 USING count(*)
PIVOT (SELECT * FROM duckdb_settings()) ON name USING count(*)
PIVOT tbl_1 ON (SELECT content FROM read_text('{secret}')) USING count(*)
PIVOT tbl_1 ON region USING sum(n); ATTACH '{secret}' AS y
CREATE TABLE z AS PIVOT tbl_1 ON region USING sum(n)
COPY (PIVOT tbl_1 ON region USING sum(n)) TO '{secret}'
WITH y AS (FROM '{secret}'), x AS (FROM tbl_1) PIVOT x ON region USING sum(n)
PIVOT tbl_1 ON region USING count(getenv('HOME'))
