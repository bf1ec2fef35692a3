-- 5 tests
select qwf.create_queue('mail', keep_completed => false);
select qwf.enqueue('a', queue => 'mail');
select qwf.enqueue('b', queue => 'mail', max_attempts => 2, backoff => '[0]');
select qwf_test.claim('mail', 2);
select qwf_test.report('b', 'error', error => 'boom');
select qwf_test.claim('mail');
create temp table spent as select id, token from qwf.jobs where task = 'b';
select results_eq($$
  select v.verdict, v.pending from qwf.finish_many((
    select jsonb_agg(jsonb_build_object(
      'job_id', j.id, 'token', j.token, 'outcome', 'completed', 'output', '{"x": 1}'::jsonb))
    from qwf.jobs j)) v
$$, $$ values ('ok', false), ('ok', false) $$, 'both ended');
select is_empty('select id from qwf.jobs', 'no row');
select is_empty('select job_id from qwf.job_attempts', 'no attempt, also none that failed before');
select results_eq($$
  select task, outcome, cardinality(runs) from qwf.attempt_counts order by task, outcome
$$, $$
  values ('a', 'completed', 1), ('b', 'completed', 1), ('b', 'error', 1) $$, 'they are counted');
select is(qwf.finish((select id from spent), (select token from spent), 'completed'), 'lost',
  'the same report again: nobody remembers it');
