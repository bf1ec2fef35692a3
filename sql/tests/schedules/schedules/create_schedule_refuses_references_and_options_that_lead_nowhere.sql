-- 10 tests
select qwf_test.explains($$ select qwf.create_schedule('x', 't', every => '1 h',
  args => '{"a": {"$from": "due.day"}, "b": [{"$coalesce": [{"$from": "now"}, 1]}]}',
  options => '{"key": {"$form": "due.date"}}') $$,
  E'args.a: there is no due.day\nargs.b[0].$coalesce[0]: there is no now\n'
  'options.key: "$form" is not an operator%', 'each reference that leads nowhere');
select qwf_test.explains($$ select qwf.create_schedule('x', 't', every => '1 h',
  options => '{"max_attempts": 0}') $$, 'options: max_attempts: at least 1',
  'values that no job may have');
select qwf_test.explains($$ select qwf.create_schedule('x', 't', every => '1 h',
  options => '{"retries": 1}') $$, 'options.retries: is none of the options', 'unknown options');
select qwf_test.explains($$ select qwf.create_schedule('x', 't', every => '1 h',
  options => '{"run_at": "2026-01-01"}') $$, 'options.run_at: is none of the options',
  'and the time, which the schedule has');
select qwf_test.explains($$ select qwf.create_schedule('x', 't', every => '1 h',
  options => '{"limit_by": "nobody"}') $$, 'options: %nobody%', 'unknown limits');
select qwf_test.workflow('w', '[{"id": "a"}]');
select qwf_test.explains($$ select qwf.create_schedule('x', workflow => 'w', every => '1 h',
  options => '{"timeout": "1 h"}') $$, 'options.timeout: is none of the options',
  'options that a run does not take');
select qwf_test.explains($$ select qwf.create_schedule('x', workflow => 'w', every => '1 h',
  options => '{"max_attempts": 0}') $$, 'options: max_attempts: 1 to 10000',
  'values that no run may have');
select qwf_test.explains($$ select qwf.create_schedule('x', 't', every => '1 h',
  overlap => 'replace', catch_up => 'all') $$, 'overlap: replace loses times%',
  'replace, which loses times, beside catch_up all, which keeps them');
select qwf_test.explains($$ select qwf.create_schedule('x.backfill.1', 't', every => '1 h') $$,
  'name: is a name that backfills have', 'names of backfills');
select is_empty('select * from qwf.schedules', 'nothing is stored');
