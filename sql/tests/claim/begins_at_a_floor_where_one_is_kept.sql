begin;
select plan(8);

create function pg_temp.take(p_most int) returns text language sql as $$
  select string_agg(c.task, ' ' order by c.ord)
  from qwf.claim('cpu', 'w', p_most) with ordinality c (
    job_id, token, run_id, node_id, task, queue, inputs, attempt, timeout, stall_timeout,
    required_model, out_dir, lease_expires_at, project, labels, light, ord)
$$;
create function pg_temp.keep(p_task text, p_until text) returns void language sql as $$
  select set_config('qwf.floors', jsonb_build_object('cpu', jsonb_build_object(
    'priority', j.priority, 'position', j.position, 'until', p_until))::text, false)
  from qwf.jobs j where j.task = p_task
$$;
select qwf.enqueue(task, queue => 'cpu') from unnest('{a,b,c,d,e,f}'::text[]) task;
select pg_temp.keep('c', '2999-01-01');
select qwf.enqueue('urgent', queue => 'cpu', priority => 5),
  qwf.enqueue('idle', queue => 'cpu', priority => 500),
  qwf.run_next(qwf.enqueue('next', queue => 'cpu', priority => 500));

select is(pg_temp.take(1), 'next', 'run_next comes before the floor');
select is(pg_temp.take(2), 'urgent c', 'a lower priority comes before it, too');
select is(pg_temp.take(3), 'd e f', 'then the jobs from the floor on, and none before');
select is(pg_temp.take(3), 'idle', 'higher priorities come after');
select is(pg_temp.take(1), 'a', 'where there is nothing, it looks below');

select qwf.enqueue('g', queue => 'cpu');
select pg_temp.keep('g', '2001-01-01');
select is(pg_temp.take(1), 'b', 'a floor that has lapsed counts for nothing');
select is(current_setting('qwf.floors'), '', 'and is forgotten where there is little to walk past');
select set_config('qwf.floors',
  '{"gpu": {"priority": 1, "position": 1, "until": "2999-01-01"}}', false);
select is(pg_temp.take(1), 'g', 'the floor of another queue is none');

select * from finish();
rollback;
