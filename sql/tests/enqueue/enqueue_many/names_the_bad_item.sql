-- 11 tests
create function pg_temp.bad(p_item jsonb) returns setof bigint language sql as $$
  select job_id from qwf.enqueue_many(jsonb_build_array('{"task": "good"}'::jsonb, p_item)) $$;
select throws_ok($$ select pg_temp.bad('{"task": "a b"}') $$, 'QW005', 'invalid job', 'a bad task');
select qwf_test.explains($$ select pg_temp.bad('{"task": "a b"}') $$, '[1].task:%',
  'is the second');
select throws_ok($$ select pg_temp.bad('{"task": "a", "prio": 1}') $$, 'QW005', 'unknown key',
  'an unknown key');
select qwf_test.explains($$ select pg_temp.bad('{"task": "a", "prio": 1}') $$, '[1].prio',
  'of the second');
select throws_ok($$ select pg_temp.bad('7') $$, 'QW005', 'invalid job', 'not an object');
select qwf_test.explains($$ select pg_temp.bad('7') $$, '[1]%', 'is the second');
select throws_ok($$ select pg_temp.bad('{"task": "a", "queue": "tpu"}') $$, 'QW006',
  'unknown queue', 'a bad queue');
select qwf_test.explains($$ select pg_temp.bad('{"task": "a", "queue": "tpu"}') $$, '%[1]%tpu%',
  'of the second');
select throws_ok($$ select pg_temp.bad('{"task": "a", "limit_by": "api"}') $$, 'QW001',
  'no such limit', 'an unknown limit');
select qwf_test.explains($$ select pg_temp.bad('{"task": "a", "expires": "-1 h"}') $$,
  '%[1]%expires%', 'expired before it was made');
select throws_ok($$ select pg_temp.bad('{"task": "a", "timeout": "soon"}') $$, 'QW005',
  'invalid job', 'no interval');
