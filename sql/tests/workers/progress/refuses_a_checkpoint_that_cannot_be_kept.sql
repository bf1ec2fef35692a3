-- 4 tests
select qwf.enqueue('a');
select qwf_test.claim('default');
create function pg_temp.save(jsonb) returns text language sql as $$
  select qwf.progress(qwf_test.job('a'), qwf_test.token('a'), 0.5, checkpoint => $1) $$;
select qwf_test.explains($$ select pg_temp.save('[1]') $$, 'checkpoint: array', 'not an object');
select qwf.change_settings('{"max_value_bytes": 1000}');
select qwf_test.explains($$ select pg_temp.save(jsonb_build_object('x', repeat('x', 1000))) $$,
  'checkpoint has 1009 bytes, at most 1000', 'too large');
select is(qwf.progress(qwf_test.job('a'), gen_random_uuid(), checkpoint => '{}'), 'lost',
  'of a worker that has lost its job');
select results_eq('select progress, checkpoint from qwf.job_details', $$
  values (null::real, null::jsonb) $$, 'nothing is written');
