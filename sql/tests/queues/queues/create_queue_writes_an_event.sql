-- 4 tests
select qwf.create_queue('mail', max_running => 2);
select results_eq($$ select subject, login, detail from qwf.audit $$, $$
  values ('mail', qwf_test.login(), '{"new": {"max_running": 2, "placement": "spread",
    "paused": false, "on_failure": "fail", "keep_completed": true}}'::jsonb) $$,
  'a new queue, with what it is');
select qwf.create_queue('mail', max_running => 2);
select is((select count(*) from qwf.audit), 1::bigint, 'nothing differs: no event');
select qwf.create_queue('mail', lease => '5 min', unset => '{max_running}');
select is((select jsonb_agg(detail order by id) from qwf.audit where id > (
    select min(id) from qwf.audit)),
  '[{"new": {"lease": "00:05:00"}}, {"old": {"max_running": 2}}]', 'what is changed and unset');
select qwf.create_queue('mail', max_running => 3), qwf.drop_limit('queue:mail');
select is((select detail from qwf.audit order by id desc limit 1), '{"old": {"max_running": 3}}',
  'its limit is a value of the queue');
