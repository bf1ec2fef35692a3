-- 2 tests
select qwf.enqueue('a');
select qwf_test.claim('default');
create temp table report as select jsonb_build_object(
  'job_id', qwf_test.job('a'), 'token', qwf_test.token('a')) as r;
select results_eq($$
  select verdict
  from qwf.finish_many((
    select jsonb_build_array(r || '{"outcome": "completed"}', r || '{"outcome": "fatal"}')
    from report))
$$, array['ok', 'lost'], 'the second comes too late');
select is(qwf_test.state('a'), 'completed', 'and changes nothing');
