-- Deploy qwf:functions/maps/_turn_verdict
-- Purpose: Says whether a repeat is over: its value is the output of the last turn; an error says
--   why it failed; without both there is another turn.
-- Guarantees: Reads the last turn, by an index, however many there were. Never raises for what
--   the definition or an output holds.
-- Raises: errors that pass (see _is_passing_error).
-- Called by: _map_verdict.

begin;

create function _qwf.turn_verdict(p_map bigint) returns _qwf.resolution
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_turn record;
  v_until _qwf.resolution;
begin
  select t.element, t.status, coalesce(t.output, 'null') as output, t.last_error, n.repeat, s.scope
    into v_turn
  from qwf.jobs m
  join qwf.graph_nodes n on n.graph_id = m.graph_id and n.idx = m.node_idx
  cross join lateral (  -- not a join: on a small table that would read all turns of the map
    select t.element, t.status, t.output, t.last_error from qwf.jobs t
    where t.parent_id = m.id and t.element = m.elements - 1 limit 1) t
  cross join lateral _qwf.scope(m.run_id, n.ref_nodes, n.ref_files, n.reads_run) s
  where m.id = p_map;
  if v_turn.status in ('failed', 'cancelled') then
    return (null, format('turn %s of %s %s%s', v_turn.element + 1, v_turn.repeat -> 'max',
      case v_turn.status when 'failed' then 'failed' else 'was cancelled' end,
      ': ' || v_turn.last_error))::_qwf.resolution;
  end if;
  begin
    v_until := _qwf.resolve(v_turn.repeat -> 'until',
      v_turn.scope || jsonb_build_object('$item', v_turn.output, '$index', v_turn.element));
  exception
    when others then
      if _qwf.is_passing_error(sqlstate) then
        raise;
      end if;
      v_until := (null, sqlstate || ' ' || left(sqlerrm, 500))::_qwf.resolution;
  end;
  if v_until.error is not null then
    v_until.error := _qwf.resolution_error('repeat.until: ' || v_until.error);
  elsif _qwf.is_true(v_until.value) then
    v_until.value := v_turn.output;
  else
    v_until.value := null;
    v_until.error := case when v_turn.element + 1 >= (v_turn.repeat -> 'max')::int
      then format('not done after %s %s', v_turn.element + 1,
        case v_turn.element when 0 then 'turn' else 'turns' end) end;
  end if;
  return v_until;
end $$;

commit;
