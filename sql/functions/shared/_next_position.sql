-- Deploy qwf:functions/shared/_next_position
-- Purpose: Returns the claim position of a job that becomes queued.
-- Guarantees: First in, first out. Released work (p_front) sorts before all other work, first in,
--   first out among itself.
-- Called by: whatever makes a job queued.

begin;

create function _qwf.next_position(p_front boolean default false) returns bigint
language sql volatile
as $$
  select nextval('qwf.job_position') - case when p_front then 4611686018427387904 else 0 end
$$;

commit;
