-- Deploy qwf:functions/holds/_is_held
-- Purpose: True if an attempt ended by a crash, and its task is held back.
-- Called by: _write_ended.

begin;

create function _qwf.is_held(p_queue text, p_task text, p_reason text) returns boolean
language sql stable
as $$
  select coalesce(p_reason = 'crashed' and exists (
    select from qwf.held_tasks h
    where h.queue = p_queue and h.task = p_task and h.until is not null), false)
$$;

commit;
