begin;
select plan(14);

create function pg_temp.take(p_most int) returns text language sql as $$
  select string_agg(c.task, ' ' order by c.ord)
  from qwf.claim('cpu', 'w', p_most) with ordinality c (
    job_id, token, run_id, node_id, task, queue, inputs, attempt, timeout, stall_timeout,
    required_model, out_dir, lease_expires_at, project, labels, light, ord)
$$;
create function pg_temp.keep(p_task text, p_for interval) returns void language sql as $$
  select set_config('qwf.floors', jsonb_build_object('cpu', jsonb_build_object(
    'priority', j.priority, 'position', greatest(j.position, 0),
    'until', qwf.now() + p_for))::text, false)
  from qwf.jobs j where j.task = p_task
$$;
create function pg_temp.give_back(p_task text) returns text language sql as $$
  select qwf.finish(j.id, j.token, 'released') from qwf.jobs j where j.task = p_task
$$;
select qwf.enqueue(task, queue => 'cpu') from unnest('{a,b,c,d,e,f}'::text[]) task;
select qwf.register_worker('box', 'cpu');
select pg_temp.keep('c', '50 s');
select qwf.enqueue('urgent', queue => 'cpu', priority => 5),
  qwf.enqueue('idle', queue => 'cpu', priority => 500),
  qwf.run_next(qwf.enqueue('next', queue => 'cpu', priority => 500));

select is(pg_temp.take(1), 'next', 'run_next comes before the floor');
select is(pg_temp.take(2), 'urgent c', 'a lower priority comes before it, too');
select count(pg_temp.give_back(task)) from unnest('{c,urgent}'::text[]) task;
select is(pg_temp.take(3), 'urgent c d', 'what is given back to the front is not left behind');
select is(pg_temp.take(2), 'e f', 'then the jobs from the floor on, and none before');
select is(pg_temp.take(3), 'idle', 'higher priorities come after');
select is(pg_temp.take(1), 'a', 'where there is nothing, it looks below');

select qwf.enqueue('g', queue => 'cpu');
select pg_temp.keep('g', '-1 s');
select is(pg_temp.take(1), 'b', 'a floor that has lapsed counts for nothing');
select set_config('qwf.floors',
  '{"gpu": {"priority": 1, "position": 1, "until": "2999-01-01"}}', false);
select is(pg_temp.take(1), 'g', 'the floor of another queue is none');

select pg_temp.give_back('b'), qwf.enqueue('h', queue => 'cpu');
select pg_temp.keep('b', '50 s');
select is(pg_temp.take(1), 'b', 'nor is it left behind where the floor was found there');
select qwf.enqueue(task, queue => 'cpu') from unnest('{i,j}'::text[]) task;
select pg_temp.keep('j', '1 h');
select is(pg_temp.take(1), 'h', 'a floor of a clock that has been set back counts for nothing');
select pg_temp.keep('j', '50 s'),
  set_config('qwf.floors', jsonb_set(current_setting('qwf.floors')::jsonb, '{cpu,worker}', '"x"')
    ::text, false);
select is(pg_temp.take(1), 'i', 'nor does the floor of another worker');

select qwf.enqueue('unfit', queue => 'cpu', priority => 1, requires => '{"disk": "nvme"}');
create sequence pg_temp.moment;
create or replace function qwf.now() returns timestamptz language sql volatile as
  $$ select timestamptz '2030-01-01' + nextval('pg_temp.moment') * interval '2 ms' $$;
select results_eq(
  $$ select f.priority, f.worker from qwf.workers w, qwf._keep_floor('cpu', w, qwf.now()) f $$,
  $$ select 100, w.id from qwf.workers w $$, 'a floor is a job that fits the worker');
create or replace function qwf.now() returns timestamptz language sql volatile as
  $$ select timestamptz '2030-01-01' $$;
select is((select f.until from qwf.workers w, qwf._keep_floor('cpu', w, qwf.now()) f), null,
  'where it is found at once there is none');
select is(current_setting('qwf.floors'), '', 'and the one there was is forgotten');

select * from finish();
rollback;
