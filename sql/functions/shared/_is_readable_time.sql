-- Deploy qwf:functions/shared/_is_readable_time
-- Purpose: True when a time is one that clients can read: of the years 1 to 9999, or infinite.
-- Guarantees: Null for null. Leaves a day at both ends for the time zone of the client.
-- Called by: whatever takes a time.

begin;

create function _qwf.is_readable_time(p_at timestamptz) returns boolean
language sql immutable parallel safe
return not isfinite(p_at)
  or (p_at >= timestamptz '0001-01-02 00:00+00' and p_at < timestamptz '9999-12-31 00:00+00');

commit;
