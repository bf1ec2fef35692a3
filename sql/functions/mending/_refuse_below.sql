-- Deploy qwf:functions/mending/_refuse_below
-- Purpose: Refuses a retry that would go on with a run of a step, however deep, of which a
--   compensation node failed: the step would fail again. Who names the step wants what that node
--   takes back to run again (see _forget_compensations).
-- Guarantees: Follows only steps that failed or were cancelled to the last run that they had: any
--   other step starts a new run. A map that runs again as a whole starts new ones, too.
-- Raises: QW002.
-- Called by: retry_plan, _line_up_again, _mend_run.

begin;

create function _qwf.refuse_below(p_run bigint, p_plan _qwf.planned[], p_from_node text)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_failed record;
begin
  with recursive again as (
    select j.node_id, j.id, j.queue, j.status
    from unnest(p_plan) p join qwf.jobs j on j.id = p.job_id
    where p.verdict = 'runs again' and j.elements is null
    union all
    select j.node_id, j.id, j.queue, j.status
    from unnest(p_plan) p join qwf.jobs j on j.parent_id = p.job_id
    where p.resumes
  ), step (named, id) as (
    select a.node_id, a.id from again a
    where a.queue = 'qwf.runs' and a.status in ('failed', 'cancelled')
      and a.node_id is distinct from p_from_node
    union all
    select s.named, j.id
    from step s
    cross join lateral (
      select r.id, r.status from qwf.runs r where r.parent_id = s.id
      order by r.id desc limit 1) l
    join qwf.jobs j on j.run_id = l.id and j.queue = 'qwf.runs' and j.elements is null
      and j.status in ('failed', 'cancelled')
    where l.status in ('failed', 'cancelled')
  )
  select s.named, c.run_id, c.node_id, c.status, c.takes_back into v_failed
  from step s
  cross join lateral (
    select r.id, r.status from qwf.runs r where r.parent_id = s.id order by r.id desc limit 1) l
  join qwf.compensations c on c.run_id = l.id and c.status in ('failed', 'cancelled')
  join qwf.jobs t on t.id = c.takes_back_job and t.status = 'completed'
  where l.status in ('failed', 'cancelled')
  order by c.run_id, c.job_id
  limit 1;
  if found then
    raise exception using errcode = 'QW002', message = 'a compensation node failed',
      detail = format('%s of run %s, which runs for step %s, is %s: %s may be in force',
        v_failed.node_id, v_failed.run_id, v_failed.named, v_failed.status, v_failed.takes_back),
      hint = format('run it again as if it were taken back: select qwf.retry_run(%s, %L)', p_run,
        v_failed.named);
  end if;
end $$;

commit;
