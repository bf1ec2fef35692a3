-- Deploy qwf:functions/finish/_host_to_avoid
-- Purpose: The host that a job should not be handed to again for a while.
-- Guarantees: Only work lost to the world, a failing accelerator or a full disk speak against a
--   host; nothing is looked up for the others.
-- Called by: _write_uncompleted.

begin;

create function _qwf.host_to_avoid(p_worker text, p_outcome text, p_detail jsonb) returns text
language sql stable
as $$
  select case
    when p_outcome = 'lost' or p_detail ->> 'reason' in ('accelerator', 'disk_full') then (
      select w.host from qwf.workers w where w.id = p_worker)
  end
$$;

commit;
