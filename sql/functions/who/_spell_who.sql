-- Deploy qwf:functions/who/_spell_who
-- Purpose: Spells who did something, for a text: `web, acting for ada`.
-- Guarantees: The login comes first, in double quotes unless it is a plain name, so that no login
--   reads like a login and a name.
-- Called by: _doctor_workers, _stop_children, _why_unfit, _write_ends, cancel_run.

begin;

create function _qwf.spell_who(p_login text, p_acting_for text) returns text
language sql immutable
as $$
  select quote_ident(p_login) || coalesce(', acting for ' || p_acting_for, '')
$$;

commit;
