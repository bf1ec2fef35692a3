-- 6 tests
select qwf_test.workflow('w',
  '[{"id": "a"}, {"id": "b", "depends_on": ["a"]}, {"id": "c"}, {"id": "d"}]');
select qwf.enqueue_run('w');
select qwf_test.claim('cpu', 2);
select qwf_test.jam('s/b'), qwf_test.report('s/a');
do $$ begin
  for n in 1 .. 5 loop
    perform qwf.drain_outbox(), qwf_test.travel('1 min');
  end loop;
end $$;
select results_eq('select tries, poisoned_at is not null, error from qwf.outbox', $$
  values (5, true, 'P0001 s/b is jammed') $$, 'it is given up, and kept to be looked at');
select results_eq('select status::text, error from qwf.runs', $$
  values ('failed', 'an event could not be applied: P0001 s/b is jammed') $$,
    'its run fails with the reason');
select is(qwf_test.nodes(), 's/a completed, s/c running, s/d cancelled, s/b cancelled',
  'no run hangs');
select results_eq('select kind, run_id, detail from _qwf.event_log
  where run_id is not null order by id limit 1', $$
  values ('poisoned', qwf_test.run(), '{"error": "P0001 s/b is jammed"}'::jsonb) $$, 'it is told');
select is(qwf.drain_outbox(), 0, 'it is never tried again');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
