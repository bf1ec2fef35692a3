-- Deploy qwf:functions/health/_counted
-- Purpose: Returns a number of things in words: 1 job, 2 jobs.
-- Called by: checks of doctor.

begin;

create function _qwf.counted(p_count bigint, p_thing text) returns text
language sql immutable parallel safe
as $$
  select p_count || ' ' || p_thing || case when p_count = 1 then '' else 's' end
$$;

commit;
