-- 33 tests
select qwf_test.set_now('2030-01-01 12:00');
create temp table box (name text, worker text);
insert into box select b, qwf.register_worker(b, 'cpu', '{"tasks": ["killer", "fine"]}')
from unnest('{box-a,box-b,box-c}'::text[]) b;
create function pg_temp.beat() returns void language sql as $$
  update qwf.workers set last_seen = qwf.now() where stopped_at is null
$$;
create function pg_temp.claims(p_box text) returns text language sql as $$
  select string_agg(c.task, ' ')
  from box b cross join qwf.claim('cpu', b.worker, 10) c where b.name = p_box
$$;
create function pg_temp.ends(p_task text, p_outcome text default 'lost') returns void
language sql as $$
  select qwf.finish_many(jsonb_agg(jsonb_build_object('job_id', j.id, 'token', j.token, 'outcome',
    p_outcome, 'detail',
    case p_outcome when 'lost' then '{"reason": "crashed"}' else '{}' end::jsonb)))
  from qwf.jobs j where j.status = 'running' and j.task = p_task
$$;
create function pg_temp.state() returns text language sql as $$
  select string_agg(format('%s %s %s', array_to_string(h.hosts, ','), h.crashes,
    coalesce(to_char(h.until, 'HH24:MI'), '-')), '') from qwf.held_tasks h
$$;

select qwf.enqueue('killer', queue => 'cpu', max_losses => 20);
select pg_temp.claims('box-a'), pg_temp.ends('killer');
select is(pg_temp.state(), 'box-a 1 -', 'one box: a poisoned job, perhaps');
select is(pg_temp.claims('box-b'), 'killer', 'another box gets it');
select pg_temp.ends('killer');
select is(pg_temp.state(), 'box-a,box-b 2 12:05', 'two boxes: the task is held');
select is((select array_agg(w.held_tasks) from qwf.workers w), '{{killer},{killer},{killer}}',
  'the workers know');
select is((select detail - 'until' from _qwf.event_log where kind = 'task_held'),
  '{"queue": "cpu", "hosts": ["box-a", "box-b"], "crashes": 2}', 'an event says so');
select cmp_ok((select position from qwf.jobs), '>', 0::bigint, 'its lost job goes to the end');
select qwf.enqueue('fine', queue => 'cpu');
select is(pg_temp.claims('box-c'), 'fine', 'the others go on');
select pg_temp.ends('fine', 'completed');
select is((select (array_agg(w))[1:1] from qwf.why_not((select min(id) from qwf.jobs)) w),
  array['killer crashed on box-a, box-b: held until 2030-01-01 12:05:00+00; mend it, then: '
    'qwf queue resume cpu --task killer'], 'why');
select results_eq($$ select level, says, hint from qwf.doctor('{queues}') $$,
  $$ values ('problem', 'killer crashed on box-a, box-b: held until 12:05:00', 'mend it, then: '
    'qwf queue resume cpu --task killer') $$, 'doctor');
select is((select queued from qwf.count_jobs() where queue = 'cpu'), 0,
  'it is not work that waits');
select is((select o.held_tasks from qwf.queue_overview o where o.queue = 'cpu'), '{killer}',
  'so the queue names it');
select is_empty('select qwf.find_unassignable()', 'and not work that fits nobody');

select qwf.enqueue('killer', queue => 'cpu') from generate_series(1, 5);
select qwf_test.travel('5 min'), pg_temp.beat();
select is(pg_temp.claims('box-c'), null, 'when its time is over, one job has to be chosen');
select qwf.tick();
select is(pg_temp.claims('box-c'), 'killer', 'the first one runs alone');
select is(pg_temp.claims('box-a'), null, 'so nobody else gets one');
select is((select says from qwf.doctor('{queues}')), format('killer crashed on box-a, box-b: job '
  '%s of it runs alone first', (select id from qwf.jobs where status = 'running')), 'doctor');
select pg_temp.ends('killer');
select is(pg_temp.state(), 'box-a,box-b,box-c 3 12:15', 'it crashed again: twice as long');
select qwf_test.travel('10 min'), pg_temp.beat(), qwf.tick();
select is(pg_temp.claims('box-a'), 'killer', 'the next one');
select pg_temp.ends('killer');
select is(pg_temp.state(), 'box-a,box-b,box-c 4 12:35', 'and again: four times');
select throws_ok($$ select qwf.resume_queue('cpu', 'fine') $$, 'QW001', 'no such held task');
select qwf.resume_queue('cpu', task => 'killer'), qwf.tick();
select qwf.change_job(trial_job, queue => 'gpu') from qwf.held_tasks;
select qwf.tick();
select is((select j.queue from qwf.held_tasks h join qwf.jobs j on j.id = h.trial_job), 'cpu',
  'who leaves the queue is not waited for');
select qwf.change_job(id, queue => 'cpu') from qwf.jobs where queue = 'gpu';
update qwf.jobs set run_next = false where id <> (select trial_job from qwf.held_tasks);
select is(pg_temp.claims('box-b'), 'killer', 'a person resumes it: one job alone');
select qwf.tick();
select is(pg_temp.claims('box-a'), null, 'the others wait for it');
select pg_temp.ends('killer', 'error'), qwf.tick();
select is(pg_temp.state(), null, 'it ended in another way: it is over');
select is((select count(w.held_tasks) from qwf.workers w), 0::bigint,
  'the workers know');
select is(pg_temp.claims('box-a'), 'killer killer killer killer',
  'and get all, but for one that avoids this box');
select is((select count(*) from _qwf.event_log where kind = 'task_back'), 1::bigint, 'an event');

select pg_temp.ends('killer', 'completed');
select qwf.enqueue('killer', queue => 'cpu') from generate_series(1, 2);
select pg_temp.claims('box-a'), pg_temp.ends('killer');
select is(pg_temp.state(), 'box-a 2 -', 'twice on one of three boxes');
select qwf.enqueue('killer', queue => 'cpu', priority => 1);
select is(split_part(pg_temp.claims('box-c'), ' ', 1), 'killer', 'another box does it');
select qwf.finish(id, token, 'completed', '{}')
from qwf.jobs where status = 'running' and losses = 0;
select pg_temp.ends('killer');
select matches(pg_temp.state(), '^box-c . -$', 'well, so the count begins again');
update qwf.settings set crash_hold = '0 s';
select qwf.enqueue('killer', queue => 'cpu', priority => 1), pg_temp.claims('box-b');
select pg_temp.ends('killer');
select matches(pg_temp.state(), '^box-b,box-c . -$', 'it is never held');
select qwf_test.travel('1 h'), qwf.tick();
select is(pg_temp.state(), null, 'an hour later it is forgotten');
select is_empty('select * from qwf.check_invariants()', 'nothing is broken');
