-- 9 tests
select throws_ok($$ select qwf.set_alert('r', '{"when": ["run_fail"], "where": {"quue": "x"},
    "by": "it", "repeat": "never", "do": {}}') $$, 'QW005', 'invalid alert', 'all problems');
create function pg_temp.detail(p_call text) returns text language plpgsql as $$
declare v_detail text;
begin
  execute p_call;
  return 'accepted';
exception when others then
  get stacked diagnostics v_detail = pg_exception_detail;
  return v_detail;
end $$;
select is(pg_temp.detail($$ select qwf.set_alert('r', '{"when": ["run_fail"],
    "where": {"quue": "x"}, "by": "it",
    "repeat": "never", "do": {}}') $$), E'when[0]: unknown kind "run_fail"
where.quue: must be one of the names of events, with a text
by: must be subject, run, job, event, rule, a name of events, or label.NAME
repeat: must be a duration such as "10 min", at most a year
do: one of receiver, task, workflow', 'each at its place');
select is(pg_temp.detail($$ select qwf.set_alert('r', '{"when": ["lost"],
    "do": {"receiver": "https://example.org"}}') $$),
  'do.receiver: must be the name of a receiver: letters, digits, - and _', 'an address is none');
select throws_ok($$ select qwf.set_alert('qwf.x', '{"when": ["lost"], "do": {"receiver": "a"}}') $$,
  'QW005', 'invalid alert', 'a name of the engine');
select throws_ok($$ select qwf.set_alert('r', null) $$, 'QW001', 'no such alert',
  'nothing to drop');
select throws_ok($$ select qwf.test_alert('r') $$, 'QW001', 'no such alert', 'nothing to test');
select throws_ok($$ select qwf.enqueue('qwf.send') $$, 'QW007', null,
  'a task of the engine');
select throws_ok($$ select qwf.enqueue_many('[{"task": "qwf.send"}]') $$, 'QW007', null,
  'in a list, too');
select qwf.set_alert('r', '{"when": ["lost"], "do": {"receiver": "ops"}}');
select qwf.test_alert('r');
select results_eq($$ select inputs #>> '{message,state}' from qwf.jobs $$, array['test'],
  'a test message');
