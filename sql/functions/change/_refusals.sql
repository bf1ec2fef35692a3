-- Deploy qwf:functions/change/_refusals
-- Purpose: Returns a verdict for each job of a list that has none yet: there is no such job, or it
--   is not in a state that the verb can change.
-- Called by: cancel_jobs, change_jobs, retry_jobs, _raise_not_waiting.

begin;

create function _qwf.refusals(p_verb text, p_jobs bigint[], p_answered bigint[])
returns setof qwf.job_verdict
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
begin
  return query
    select u.id, 'refused',
      case when j.id is null then 'QW001' else 'QW002' end,
      case when j.id is null then 'no such job'
        when p_verb = 'change' then 'the job is not waiting in a queue'
        else 'the job has not failed or been cancelled' end,
      case when j.id is null then format('job %s', u.id)
        when p_verb = 'change' and j.queue like 'qwf.%' and j.status in ('queued', 'scheduled')
          then format('job %s is on the queue %s of the engine, or is being changed', u.id, j.queue)
        when p_verb = 'change' and j.status in ('queued', 'scheduled')
          then format('job %s is being claimed or changed', u.id)
        else format('job %s is %s', u.id, j.status) end,
      case when j.id is null
          then 'ended jobs are deleted after their retention; '
            'who has the role qwf_viewer lists jobs: select * from qwf.recent_jobs'
        when p_verb = 'change' then 'only queued and scheduled jobs can be changed'
        when j.finished_at is null then 'it is not over: ask why_not() what it waits for'
        when j.run_id is null then 'enqueue it again to run it a second time'
        else format('to run its run again from there: select qwf.retry_run(%s, %L)',
          j.run_id, j.node_id) end
    from (select distinct unnest(p_jobs) as id) u
    left join qwf.jobs j on j.id = u.id
    where u.id <> all (p_answered)
    order by u.id;
end $$;

commit;
