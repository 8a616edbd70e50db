# What PostgreSQL must not be made to do; kept, its functions and {secret} are the test's.
SELECT ('{secret}'::text).pg_read_file
SELECT t.f FROM (SELECT '{secret}'::text AS f) AS t, LATERAL (SELECT (t.f).pg_read_file) x
SELECT o.leak FROM kept o
SELECT (o).leak FROM kept o
SELECT kept.leak FROM kept
SELECT "o"."leak" FROM kept AS "o"
SELECT public.kept.leak FROM kept
SELECT ((SELECT o FROM kept o LIMIT 1)).leak
SELECT x.total FROM (SELECT o FROM kept o) x
SELECT o.total FROM (SELECT 1 AS id) o
SELECT (o).total FROM kept o
SELECT system('x')
SELECT lower(o) FROM kept o
SELECT (o).lower FROM kept o
SELECT o.lower FROM kept o
SELECT 'a'::text @@@ 'b'
SELECT 'a' OPERATOR(public.@@@) 'b'
SELECT * FROM pg_read_file('{secret}') WITH ORDINALITY
SELECT * FROM kept, LATERAL pg_read_file('{secret}') AS x(y)
SELECT * FROM dblink('host=127.0.0.1 port={port}','DELETE FROM kept RETURNING id') AS (id int)
WITH dblink(a,b) AS (SELECT 1,2) SELECT * FROM dblink('host=127.0.0.1 port={port} user=postgres','DELETE FROM kept RETURNING id') AS r(id int)
SELECT ('host=127.0.0.1 port={port} user=postgres dbname=postgres'::text).dblink_connect
SELECT 'kept'::regclass::oid
SELECT regclass 'kept'
SELECT (SELECT id FROM kept ORDER BY (name).pg_ls_dir LIMIT 1)
SELECT query_to_xml('select 1',true,true,'')
SELECT xmlelement(name foo, 'x')
SELECT treat(o AS leak) FROM kept o
SELECT pg_catalog.pg_read_file('{secret}')
SELECT pg_catalog . "pg_read_file" ('{secret}')
SELECT U&"\0070g_read_file"('{secret}')
SELECT * FROM pg_authid
SELECT * FROM pg_catalog.pg_shadow
SELECT * FROM pg_settings
SELECT rolpassword FROM "pg_authid"
SELECT * FROM information_schema.user_mapping_options
SELECT current_setting('data_directory')
SELECT (text 'data_directory').current_setting
SELECT (5::double precision).pg_sleep
SELECT (1.5).pg_sleep
SELECT (a).pg_sleep FROM (SELECT 3::float8 AS a) q
SELECT q.pg_sleep FROM (SELECT 3::float8 AS pg_sleep) q
SELECT txid_current()
SELECT pg_advisory_lock(1)
SELECT (1::bigint).pg_advisory_lock
SELECT ('x').nextval
SELECT arr[1].pg_read_file FROM (SELECT ARRAY['{secret}'] AS arr) q
SELECT (arr[1]).pg_read_file FROM (SELECT ARRAY['{secret}'] AS arr) q
SELECT (array_agg(name)).pg_read_file FROM kept
SELECT (CASE WHEN true THEN '{secret}'::text END).pg_read_file
SELECT ('{secret}'::text || '').pg_read_file
SELECT * FROM kept WHERE (name).pg_read_file IS NULL
SELECT * FROM kept ORDER BY (name).pg_read_file
SELECT count(*) FILTER (WHERE (name).pg_read_file IS NULL) FROM kept
SELECT (q.x).pg_read_file FROM (SELECT '{secret}'::text) AS q(x)
TABLE pg_authid
VALUES (pg_read_file('{secret}'))
SELECT * FROM (VALUES (pg_read_file('{secret}'))) v
COPY kept TO PROGRAM 'id'
SELECT * FROM kept FOR UPDATE
SELECT 1 INTO x
WITH x AS (DELETE FROM kept RETURNING *) SELECT * FROM x
SELECT lo_from_bytea(0, 'x')
SELECT set_config('log_min_messages','debug5',false)
SELECT ts_rewrite('a'::tsquery, 'SELECT 1')
SELECT * FROM ts_stat('SELECT 1')
SELECT $1
SELECT json_populate_record(NULL::kept, '{}')
SELECT coalesce((SELECT (x).pg_read_file FROM (SELECT '{secret}'::text AS x) z), '')
SELECT /*+ x */ pg_sleep(1)
SELECT * FROM kept AS pg_read_file(a, b) WHERE pg_read_file(b) IS NULL
SELECT sum(id) OVER pg_sleep (ORDER BY 1) FROM kept
SELECT 'x' COLLATE pg_read_file
SELECT interval '1' pg_sleep
SELECT f FROM (SELECT jsonb_build_object('a', (n).pg_read_file) f FROM (SELECT '{secret}'::text n) q) z
SELECT array_agg(data -> (n).pg_read_file) FROM (SELECT '{secret}'::text n, '{}'::jsonb AS data) q
SELECT count(data -> q.pg_read_file) FROM (SELECT '{secret}'::text n, '{}'::jsonb AS data) q
SELECT (name).wipe FROM kept
SELECT wipe(name) FROM kept
SELECT * FROM kept WHERE name = (name).wipe
SELECT pg_terminate_backend(1)
SELECT (1).pg_terminate_backend
LISTEN x
SELECT pg_notify('a', 'b')
SELECT database_to_xml(true, true, '')
SELECT table_to_xml('kept', true, true, '')
SELECT dblink_exec('host=127.0.0.1 port={port}', 'DELETE FROM kept')
SELECT * FROM pg_stat_file('{secret}')
SELECT (name).system FROM kept
SELECT set_config('role', 'postgres', false)
PREPARE p AS DELETE FROM kept
SELECT ('{secret}'::text).PG_READ_FILE
SELECT O.LEAK FROM kept o
SELECT (o).Leak FROM kept o
SELECT "o"."Betray" FROM kept o
SELECT k.NAME, (k.name).WIPE FROM kept k
SELECT (3::float8).Pg_Sleep
SELECT (q.x).a_function_whose_name_is_as_long_as_names_may_be_in_postgresql_cut FROM (SELECT '{secret}'::text AS x) q
SELECT k.system, (ARRAY[k.name])[1].system FROM (SELECT 1 AS system, name FROM kept) k
SELECT E'\'' || (3::float8).pg_sleep::text --'
SELECT $a$'$a$, pg_sleep(3), $b$'$b$
