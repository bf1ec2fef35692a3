-- 14 tests
select qwf_test.register_album();
create temp table run as select qwf.enqueue_run('album', '{"list": ["p", "q", "r"]}') as id;
select qwf_test.works(1);
select qwf_test.works(9, '%"q"%');
select results_eq('select status::text, error from qwf.runs order by id', $$ values
  ('failed', 'each failed: 1 of 3 elements failed, 3 must succeed; each[1]: run '
    || (select max(c.id) from qwf.runs c where c.context ->> 'x' = 'q')
      || ' failed: crop failed: boom'),
  ('cancelled', 'the run above it ended'), ('failed', 'crop failed: boom') $$,
  'the run above fails with the error, and stops the other one');
select is_empty('select * from qwf.check_invariants()', 'invariants');
prepare child as select qwf.retry_run(id) from qwf.runs where context ->> 'x' = 'q';
select throws_ok('execute child', 'QW002', 'the run is part of run ' || run.id,
  'a run of a step is retried with the run above it') from run;
select is(qwf.retry_run(run.id), 2, 'each and sum run again') from run;
select results_eq($$ select context ->> 'x', status::text, parent_attempt
  from qwf.runs where depth = 1 order by id $$, $$ values
  ('p', 'queued', 2), ('q', 'queued', 2) $$, 'with the same runs');
select is(qwf_test.works(9), 'write:ok crop:ok crop:ok write:ok write:ok sum:ok',
  'only what had not completed');
select is((select count(*) from qwf.runs where status = 'completed'), 4::bigint, 'all completed');
select is_empty('select * from qwf.check_invariants()', 'invariants');
select results_eq($$ select a.outcome from qwf.job_attempts a join qwf.jobs j on j.id = a.job_id
  where j.node_id = 'each[1]' order by a.attempt $$, array['error', 'completed'],
  'both attempts are kept');

-- the run is cancelled while a body runs, which completes after all
select qwf.cancel_run(qwf.enqueue_run('album', '{"list": []}'));
create temp table late as select qwf.enqueue_run('album', '{"list": ["s"]}') as id;
select qwf_test.works(2);
create temp table held as select job_id, token from qwf.claim('cpu', 'w2');
select is(qwf.cancel_run(late.id), true, 'cancelled') from late;
select is(qwf.finish(h.job_id, h.token, 'completed', '{"text": "late"}'), 'ok', 'a late report')
from held h;
select is(qwf.retry_run(late.id) > 0, true, 'retried') from late;
select qwf_test.works(2);
select is(output, '[{"x": "s", "text": "late"}]'::jsonb,
  'a run of which nothing is left to run completes') from qwf.jobs, late
where node_id = 'each' and run_id = late.id;
select is_empty('select * from qwf.check_invariants()', 'invariants');
