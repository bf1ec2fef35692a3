-- Deploy qwf:functions/events/_not_taken_back
-- Purpose: Returns, for the event of a run that ended badly, which nodes it did that a compensation
--   node should have taken back and has not, at most 20; an empty object if there are none.
-- Called by: _end_run, _tell_run_ends.

begin;

create function _qwf.not_taken_back(p_run bigint, p_status qwf.run_status) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_nodes text[];
begin
  if p_status not in ('failed', 'cancelled') or not exists (
    select from qwf.runs r join qwf.graphs g on g.id = r.graph_id
    where r.id = p_run and g.compensation_count > 0)
  then
    return '{}';
  end if;
  v_nodes := array(
    select c.takes_back from qwf.compensations c
    where c.run_id = p_run and c.done
    group by c.takes_back having not bool_or(c.taken_back)
    order by c.takes_back limit 20);
  return case when v_nodes = '{}' then '{}'
    else jsonb_build_object('not_taken_back', to_jsonb(v_nodes)) end;
end $$;

commit;
