-- 2 tests
select qwf_test.set_now('2030-01-01');
select _qwf.record_change('queue_changed', 'gpu', '{"a": 1}', '{"a": 1}');
select is_empty('select from _qwf.event_log', 'nothing differs');
select _qwf.record_change('queue_changed', 'gpu', '{"a": 1}', '{"a": 2}', '{"of": "x"}');
select results_eq('select at, kind, subject, login, detail from _qwf.event_log', $$
  values ('2030-01-01'::timestamptz, 'queue_changed', 'gpu', qwf_test.login(),
    '{"of": "x", "old": {"a": 1}, "new": {"a": 2}}'::jsonb)
$$, 'what differs, by the clock of the engine');
