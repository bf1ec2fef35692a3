-- Deploy qwf:functions/erase/_erased_detail
-- Purpose: Returns of the detail of an event or an attempt what says nothing of a person: numbers,
--   truth values, and the state in which a run ended; and the mark of what is erased.
-- Called by: _erase_events, _erase_history.

begin;

create function _qwf.erased_detail(p_detail jsonb, p_mark jsonb) returns jsonb
language sql immutable
as $$
  select case when p_detail = '{}' then p_detail else p_mark || coalesce((
    select jsonb_object_agg(d.key, d.value)
    from jsonb_each(p_detail) d
    where jsonb_typeof(d.value) in ('number', 'boolean')
      or d.key = 'status' and d.value <@ '["completed", "failed", "cancelled"]'), '{}') end
$$;

commit;
