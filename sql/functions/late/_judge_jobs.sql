-- Deploy qwf:functions/late/_judge_jobs
-- Purpose: Tells of standalone jobs that run for longer than is usual for their task.
-- Guarantees: Once for each attempt. Looks at 5,000 running jobs. Nodes of runs are left to
--   _judge_runs, jobs of the engine's own queues to nobody.
-- Locks: running jobs that are late, if nobody else has locked them.
-- Called by: _judge.

begin;

create function _qwf.judge_jobs(p_now timestamptz, p_max int default 5000) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
declare
  v_count int;
begin
  delete from _qwf.late_jobs l
  where not exists (
    select from qwf.jobs j
    where j.id = l.job_id and j.status = 'running' and j.attempt = l.attempt);
  with running as materialized (
    select j.id, j.task, date_part('epoch', p_now - j.claimed_at) as ran
    from qwf.jobs j
    where j.status = 'running' and j.run_id is null and j.queue not like 'qwf.%'
      and j.claimed_at < p_now - interval '1 min'
    limit p_max
  ), late as materialized (
    select r.id, r.ran, u.p95, a.after
    from running r
    join qwf.usual_times u on u.kind = 'task' and u.name = r.task and u.node = ''
    cross join lateral (select _qwf.late_after(null, u.runs, u.p95) as after) a
    where r.ran > a.after
      and not exists (select from _qwf.late_jobs k where k.job_id = r.id)
    limit 1000
  ), held as materialized (
    select j.id, j.task, j.attempt from qwf.jobs j
    where j.id = any (array(select l.id from late l)) and j.token is not null
    order by j.id
    for no key update skip locked
  ), marked as (
    insert into _qwf.late_jobs (job_id, attempt) select h.id, h.attempt from held h
    on conflict (job_id) do nothing
  )
  insert into _qwf.event_log (at, job_id, kind, subject, detail)
  select p_now, h.id, 'job_late', h.task, jsonb_build_object(
    'runs_for', floor(l.ran), 'usual', l.p95, 'expected', l.after, 'attempt', h.attempt)
  from held h join late l on l.id = h.id;
  get diagnostics v_count = row_count;
  return v_count;
end $$;

commit;
