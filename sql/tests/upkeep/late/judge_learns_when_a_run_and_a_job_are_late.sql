-- 4 tests
select qwf_test.set_now('2030-01-01');
select qwf.register_workflow('{"name": "w", "steps": [{"id": "a", "node": "a", "queue": "cpu"}]}');
select qwf.register_worker('box', 'cpu');
insert into _qwf.event_log (at, kind, subject, run_id, detail)
select qwf.now(), 'run_ended', 'w', n, '{"status": "completed", "seconds": 100}'
from generate_series(1001, 1010) n;
insert into qwf.attempt_counts
values ('2030-01-01', 'cpu', 'mail', 'completed', '{}', array_fill(300, array[10]));
select _qwf.number_events(), _qwf.learn_runs(), _qwf.roll_up_counts();
select qwf.enqueue_run('w'), qwf.enqueue('mail', queue => 'cpu');
select qwf.enqueue('new', queue => 'cpu');
select count(*) from qwf.claim('cpu', (select w.id from qwf.workers w), 3);
create function pg_temp.told(p_travel interval) returns text language plpgsql as $$ begin
  perform qwf_test.travel(p_travel);
  perform _qwf.judge();
  return (select string_agg(e.kind || ' ' || (e.detail ->> 'runs_for'), ', ' order by e.id)
    from _qwf.event_log e where e.kind like '%\_late'); end $$;
select is(pg_temp.told('2 min'), null, 'twice the usual time has not passed');
select is(pg_temp.told('2 min'), 'run_late 240', 'of the run it has');
select is(pg_temp.told('10 min'), 'run_late 240, job_late 840', 'and of the job; of a task without '
  'history nobody knows');
select is(pg_temp.told('10 min'), 'run_late 240, job_late 840', 'each is told of once');
