-- 5 tests
select qwf_test.set_now('2030-01-01');
select qwf.create_schedule('x', 'report', every => '1 h', args => '{"password": "s3cret"}');
select results_eq($$ select kind, subject, login, detail -> 'new' ->> 'task' from qwf.audit $$,
  $$ values ('schedule_changed', 'x', qwf_test.login(), 'report') $$, 'a new schedule');
select qwf.create_schedule('x', 'report', every => '1 h', args => '{"password": "s3cret"}');
select is((select count(*) from qwf.audit), 1::bigint, 'nothing differs: no event');
select qwf.create_schedule('x', 'report', every => '1 h', args => '{"password": "0ther"}');
select qwf.enable_schedule('x', false), qwf.enable_schedule('x', false),
  qwf.enable_schedule('x', true);
select qwf_test.travel('1 h');
select is(_qwf.fire_schedules(), 1, 'firing');
select qwf.drop_schedule('x');
select is((select jsonb_agg(detail order by id) from qwf.audit
    where detail ? 'new' and id > (select min(id) from qwf.audit)),
  '[{"new": {"args_changed": true}},
    {"old": {"enabled": true}, "new": {"enabled": false}},
    {"old": {"enabled": false}, "new": {"enabled": true}}]', 'each change, and none for firing');
select is_empty($$ select from qwf.audit a where a::text ~ 's3cret|0ther' $$,
  'the arguments are not written');
