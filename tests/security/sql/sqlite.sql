# What SQLite must not be made to do.
ATTACH DATABASE '{folder}/other.sqlite' AS o
SELECT * FROM pragma_table_info('t')
SELECT * FROM pragma_database_list
SELECT name FROM "pragma_function_list"
SELECT * FROM main.pragma_table_info('t')
SELECT * FROM sqlite_stmt
SELECT * FROM dbstat
SELECT load_extension('x')
SELECT "load_extension"('x')
SELECT readfile('{folder}/other.sqlite')
SELECT writefile('{folder}/written', 'x')
SELECT edit('x')
SELECT fts3_tokenizer('simple')
SELECT sqlite_compileoption_get(1)
SELECT last_insert_rowid()
SELECT length(zeroblob(1000000000))
SELECT length(randomblob(1000000000))
SELECT group_concat(hex(a), a) FROM (WITH RECURSIVE c(a) AS (SELECT printf('%1000000d', 1) UNION ALL SELECT a FROM c) SELECT a FROM c)
WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c
WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c ORDER BY n
SELECT printf('%.*c', 2000000000, 'x')
VACUUM INTO '{folder}/written'
EXPLAIN SELECT 1
SELECT 1; DELETE FROM t
DELETE FROM t
CREATE TEMP TABLE y AS SELECT 1
PRAGMA writable_schema = ON
SELECT * FROM t INDEXED BY nothing
REINDEX
BEGIN
SELECT $a
SELECT 1 WHERE 1 IN pragma_function_list
SELECT count(*) FROM pragma_database_list
SELECT printf('%.40000000c', 'x')
DROP TABLE t
SELECT 1; DROP TABLE t
WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x
EXPLAIN DELETE FROM t
