-- Deploy qwf:functions/mending/_refuse_compensation
-- Purpose: Refuses to let a run go on of which a compensation node failed: nobody knows what of it
--   was taken back. Who retries names that node, so that it takes back again, or a node that it
--   takes back, which then runs again as if nothing was left of it.
-- Guarantees: A compensation node that was stopped counts as failed. One that is named must have
--   failed, and runs with the definitions and the context that the run has. Who says that
--   completed nodes are to be compensated takes back again, too.
-- Raises: QW002.
-- Called by: _check_mending, _resume_child.

begin;

create function _qwf.refuse_compensation(
  p_run qwf.runs, p_from_node text, p_moves boolean default false, p_completed text default null)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_named boolean := _qwf.names_compensation(p_run, p_from_node);
  v_failed record;
begin
  for v_failed in
    select j.node_id, n.compensates, j.status, (
        select t from unnest(n.compensates) t
        where _qwf.has_completed(p_run.id, n.graph_id, array[t]) limit 1) as target
    from qwf.graph_nodes n
    join qwf.jobs j on j.run_id = p_run.id and j.node_idx = n.idx
    where n.graph_id = p_run.graph_id and n.compensates is not null
      and j.status in ('failed', 'cancelled')
    order by n.idx
  loop
    if v_named and v_failed.node_id = p_from_node and v_failed.target is not null then
      if not p_moves and not exists (
        select from qwf.jobs l where l.id = p_run.parent_id and l.run_id is null)
      then
        return;
      end if;
      raise exception using errcode = 'QW002', message = 'a compensation node runs as it is',
        detail = format('node %s of run %s runs with the definitions and the context of its run, '
          'which must not have waited in line', p_from_node, p_run.id),
        hint = format('name what it takes back: select qwf.retry_run(%s, %L)',
          p_run.id, v_failed.target);
    end if;
    continue when v_named or v_failed.target is null or p_from_node = any (v_failed.compensates)
      or p_completed = 'compensate';
    raise exception using errcode = 'QW002', message = 'a compensation node failed',
      detail = format('%s of run %s is %s: %s may be in force', v_failed.node_id, p_run.id,
        v_failed.status, v_failed.target),
      hint = format('take it back again: select qwf.retry_run(%s, %L); or run it again as if it '
        'were taken back: select qwf.retry_run(%s, %L, completed => ''keep'')', p_run.id,
        v_failed.node_id, p_run.id, v_failed.target);
  end loop;
  if v_named then
    raise exception using errcode = 'QW002', message = 'the compensation node did not fail',
      detail = format('%s of run %s', p_from_node, p_run.id),
      hint = format('retry the run, or name another node: select qwf.retry_run(%s)', p_run.id);
  end if;
end $$;

commit;
