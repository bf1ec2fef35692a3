-- Deploy qwf:functions/mending/_notice_clean_up
-- Purpose: Tells who retries a run which clean-up nodes of it have completed, if a node that they
--   may have undone keeps its output.
-- Guarantees: Reads only; called before the nodes are reset.
-- Called by: retry_plan, _line_up_again, _mend_run.

begin;

create function _qwf.notice_clean_up(p_run qwf.runs, p_jobs bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_clean_up text;
  v_kept text[];
begin
  with recursive cleaned (idx, node_id) as (
    select j.node_idx, j.node_id from qwf.jobs j
    where j.run_id = p_run.id and j.parent_id is null and j.run_if = 'all_done'
      and j.status = 'completed'
  ), upstream (idx, from_idx) as (
    select c.idx, e.from_idx
    from cleaned c join qwf.graph_edges e on e.graph_id = p_run.graph_id and e.to_idx = c.idx
    union
    select u.idx, e.from_idx
    from upstream u
    join qwf.graph_edges e on e.graph_id = p_run.graph_id and e.to_idx = u.from_idx
  ), undone as (
    select c.node_id as clean_up, j.node_id as kept
    from cleaned c
    join upstream u on u.idx = c.idx
    join qwf.jobs j on j.run_id = p_run.id and j.node_idx = u.from_idx
    where j.status = 'completed' and j.run_if is null and not j.id = any (p_jobs)
  )
  select (select string_agg(distinct u.clean_up, ', ') from undone u),
    array(select distinct u.kept from undone u order by u.kept)
  into v_clean_up, v_kept;
  if v_clean_up is not null then
    raise notice using
      message = format('clean-up of run %s has completed: %s', p_run.id, left(v_clean_up, 500)),
      detail = format('these nodes are not run again: %s',
        left(array_to_string(v_kept, ', '), 500)),
      hint = format('if it has undone one of them, name that node: select qwf.retry_run(%s, %L)',
        p_run.id, v_kept[1]);
  end if;
end $$;

commit;
