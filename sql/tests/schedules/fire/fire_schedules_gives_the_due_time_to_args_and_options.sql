-- 5 tests
-- Berlin sets its clocks forward on 29 March 2026: the day has 23 hours.
select qwf_test.set_now('2026-03-28 12:00:00+00');
select qwf.create_schedule('nightly', 'etl', cron => '30 0 * * *', timezone => 'Europe/Berlin',
  args => '{"at": {"$from": "due.at"}, "day": {"$from": "due.date"}, "hour": {"$from": "due.hour"},
    "from": {"$from": "due.previous.at"}, "to": {"$from": "due.next"},
    "as_is": {"$value": {"$from": "x"}}, "n": [1]}',
  options => '{"max_attempts": 3, "key": {"$from": "due.date"}, "labels": {"team": "data"},
    "timeout": "1 h"}');
select qwf_test.set_now('2026-03-29 00:00:00+00');
select is(_qwf.fire_schedules(), 1, 'it fires');
select results_eq(
  'select inputs, max_attempts, key, timeout, labels from qwf.job_details', $$ values (
  '{"at": "2026-03-28T23:30:00Z", "day": "2026-03-29", "hour": 0, "from": "2026-03-27T23:30:00Z",
    "to": {"at": "2026-03-29T22:30:00Z", "date": "2026-03-30", "hour": 0},
    "as_is": {"$from": "x"}, "n": [1]}'::jsonb, 3, '2026-03-29', interval '1 h',
  '{"team": "data", "schedule": "nightly", "due": "2026-03-28T23:30:00Z"}'::jsonb) $$,
  'with the day, the hour and the times around it, in its zone');
select qwf_test.workflow('w', '[{"id": "a", "inputs": {"d": {"$from": "due.date"},
  "day": {"$from": "day"}}}]');
select qwf.create_limit('etl', 1);
select qwf.create_schedule('run', workflow => 'w', cron => '0 5 * * *',
  args => '{"due": {"$from": "due"}, "day": {"$from": "due.previous.date"}}',
  options => '{"key": {"$from": "due.date"}, "out_dir": "etl", "limit_by": "etl",
    "max_attempts": 2, "backoff": [60]}');
select qwf_test.set_now('2026-03-29 05:00:00+00');
select _qwf.fire_schedules();
select results_eq('select context #>> ''{due,date}'', context ->> ''day'', key, out_dir, schedule
  from qwf.runs', $$ values ('2026-03-29', '2026-03-28', '2026-03-29', 'etl', 'run') $$,
  'the context of a run, too');
select results_eq(
  'select limit_by, max_attempts, backoff from qwf.job_details where queue = ''qwf.runs''',
  $$ values ('etl', 2, '[60]'::jsonb) $$, 'it waits in line for its limit');
select qwf_test.claim('cpu');
select is((select resolved_inputs from qwf.jobs where node_id = 's/a'),
  '{"d": "2026-03-29", "day": "2026-03-28"}', 'whose nodes read it');
