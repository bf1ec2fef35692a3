-- 8 tests
select qwf.register_workflow('{"name": "order", "steps": [{"id": "paid", "kind": "input",
  "signal": "paid", "schema": {"type": "object", "properties": {"status": {"enum": ["ok"]}}}}]}');
select qwf.enqueue_run('order');
select is(qwf.signal('paid', '{"status": "bounced"}'), 0, 'it does not fit');
select is(qwf_test.state('paid'), 'awaiting_input', 'the step waits on');
select alike((select w from qwf.why_not(qwf_test.job('paid')) w),
  'it waits for the signal paid; the last one did not fit, sent at %: value.status must be one of%',
  'and says why');
select is((select refused from qwf.awaited_signals where job_id = qwf_test.job('paid')), true,
  'shown');
select qwf.enqueue_run('order');
select is((select count(*)::int from qwf.awaited_signals where refused), 2,
  'one that asks later refuses it, too');
select is_empty('select * from qwf.check_invariants()', 'all is well');
select is(qwf.signal('paid', '{"status": "ok"}'), 2, 'the next one fits');
select is(qwf_test.run_state(), 'completed', 'done');
