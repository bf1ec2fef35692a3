-- Deploy qwf:functions/erase/_erased
-- Purpose: Returns the mark of what is erased in place of a value, or the value.
-- Guarantees: Where there is nothing (null, or an empty object), there is no mark.
-- Called by: _erase_jobs, _erase_history.

begin;

create function _qwf.erased(p_erase boolean, p_value jsonb, p_mark jsonb) returns jsonb
language sql immutable
as $$
  select case when p_erase and p_value <> '{}' then p_mark else p_value end
$$;

commit;
