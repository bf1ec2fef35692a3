-- Deploy qwf:functions/times/_utc
-- Purpose: Spells a time in UTC, as labels and references have it: 2026-01-31T12:00:00Z.
-- Called by: fire_schedule, _due_date, _fire_labels.

begin;

create function _qwf.utc(p_at timestamptz) returns text
language sql immutable
as $$
  select (to_jsonb(p_at at time zone 'UTC') #>> '{}') || 'Z'
$$;

commit;
