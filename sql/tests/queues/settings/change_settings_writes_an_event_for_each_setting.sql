-- 3 tests
select set_config('qwf.acting_for', 'ada', true);
select qwf.change_settings('{"retention": "40 days", "lease": "2 min", "tick": null}');
select results_eq($$
  select subject, login, acting_for, detail from qwf.audit order by subject
$$, $$
  values
    ('lease', qwf_test.login(), 'ada',
      '{"old": {"lease": "00:00:30"}, "new": {"lease": "00:02:00"}}'::jsonb),
    ('retention', qwf_test.login(), 'ada',
      '{"old": {"retention": "30 days"}, "new": {"retention": "40 days"}}')
$$, 'what it was and what it is; none for one that stays the same');
select qwf.change_settings('{"lease": "2 min"}');
select is((select count(*) from qwf.audit), 2::bigint, 'nothing differs: no event');
update qwf.settings set lease = '3 min';
select is((select detail from qwf.audit order by id desc limit 1),
  '{"old": {"lease": "00:02:00"}, "new": {"lease": "00:03:00"}}', 'a plain update is written, too');
