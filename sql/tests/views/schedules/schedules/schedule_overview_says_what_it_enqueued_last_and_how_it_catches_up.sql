-- 2 tests
select qwf_test.set_now('2030-01-01');
select qwf_test.workflow('w', '[{"id": "a"}]');
select qwf.create_schedule('a', task => 't', every => '1 h', queue => 'cpu', overlap => 'allow');
select qwf.create_schedule('b', workflow => 'w', cron => '@daily', catch_up => 'all');
select qwf.fire_schedule('a');
select results_eq($$
  select name, last_job_id, last_run_id, catch_up, overlap, queue, every, last_status
  from qwf.schedule_overview order by name
$$, $$
  values ('a', qwf_test.job('t'), null::bigint, 'one', 'allow', 'cpu', interval '1 h', 'queued'),
    ('b', null, null, 'all', 'skip', null, null, null)
$$, 'each');
select is(s.last_fired_at, t.last_fired_at, 'when it fired')
from qwf.schedule_overview s join qwf.schedules t using (name) where name = 'a';
