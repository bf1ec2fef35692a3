-- Deploy qwf:functions/search/_mark_state
-- Purpose: Returns whether a group of failures is new, seen, failed again since, or snoozed.
-- Guarantees: A snooze ends by its time, or by the first definition that is registered after it.
-- Called by: failure_groups.

begin;

create function _qwf.mark_state(
  p_mark qwf.failure_marks, p_last timestamptz, p_now timestamptz) returns text
language sql stable
as $$
  select case
    when p_mark.snoozed_until > p_now and not coalesce((
      select bool_or(d.at > p_mark.release_after) from (
        select max(w.registered_at) as at from qwf.workflows w
        union all
        select max(p.registered_at) from qwf.pipelines p) d), false) then 'snoozed'
    when p_mark.seen_at >= p_last then 'seen'
    when p_mark.seen_at is not null then 'again'
    else 'new' end
$$;

commit;
