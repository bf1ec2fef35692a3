-- 2 tests
-- Not since it was queued: nobody could have answered then. The attempt has waited since then.
select qwf_test.set_now('2030-01-01 10:00Z');
select qwf_test.workflow('pair', '[{"id": "a"}, {"id": "b", "depends_on": ["a"],
  "on_failure": "ask", "inputs": {"x": {"$from": "a.gone"}}}]');
select qwf.enqueue_run('pair');
select qwf_test.attempt('s/a');
select qwf_test.set_now('2030-01-01 11:00Z');
select * from qwf.claim('cpu', 'w');
select results_eq('select node_id, since from qwf.pending_inputs',
  $$ values ('s/b', timestamptz '2030-01-01 11:00Z') $$, 'it has been asking since its claim');
select results_eq(
  $$ select queued_at, started_at from qwf.job_attempts where job_id = qwf_test.job('s/b') $$,
  $$ values (timestamptz '2030-01-01 10:00Z', timestamptz '2030-01-01 11:00Z') $$,
  'and was queued an hour before');
