-- Deploy qwf:functions/shared/_is_duration
-- Purpose: True when an interval is positive and at most p_most.
-- Guarantees: Null for null. Compares the seconds too: Postgres compares intervals as if a month
--   had 30 days, so by itself it takes "71000000 months -2129999990 days" for less than a year,
--   which is 85102 years in seconds.
-- Called by: whatever takes an interval.

begin;

create function _qwf.is_duration(
  p_value interval, p_most interval, p_least interval default '1 microsecond')
returns boolean
language sql immutable parallel safe
return p_value between p_least and p_most
  and extract(epoch from p_value)
    between extract(epoch from p_least) and extract(epoch from p_most);

commit;
