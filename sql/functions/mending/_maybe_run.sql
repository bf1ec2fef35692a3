-- Deploy qwf:functions/mending/_maybe_run
-- Purpose: Returns the jobs that the plan of a retry would run again although they run at most once
--   and may have run: with the node of the plan under which each is.
-- Guarantees: Follows maps to their elements and steps to their last runs. In a map or run that
--   goes on, only failed and cancelled parts run again; in one that starts anew, all parts do.
-- Called by: _refuse_maybe_run, retry_plan.

begin;

create function _qwf.maybe_run(p_plan _qwf.planned[], p_from_node text)
returns table (named text, run_id bigint, node_id text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
begin
  return query
    with recursive again (named, anew, job) as (
      select p.node_id, p.anew or not p.resumes and j.elements is not null, j
      from unnest(p_plan) p join qwf.jobs j on j.id = p.job_id
      where p.verdict in ('runs again', 'runs first')
      union all
      select a.named, a.anew, below.job
      from again a
      cross join lateral (
        select e as job from qwf.jobs e
        where (a.job).elements is not null and e.parent_id = (a.job).id
        union all
        select b from (
          select r.id from qwf.runs r
          where (a.job).queue = 'qwf.runs' and r.parent_id = (a.job).id
          order by r.id desc limit 1) l
        join qwf.jobs b on b.run_id = l.id
      ) below
    )
    select a.named, (a.job).run_id, (a.job).node_id
    from again a
    where (a.job).begun and (a.anew or (a.job).status in ('failed', 'cancelled')
      or (a.job).node_id = p_from_node)
    order by (a.job).id;
end $$;

commit;
