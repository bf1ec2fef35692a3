-- Deploy qwf:functions/limit_keys/_names_key
-- Purpose: True when a name is a key of a limit that counts by key: LIMIT:KEY.
-- Called by: _check_limit, _unknown_names, _why_held.

begin;

create function _qwf.names_key(p_name text) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select strpos(p_name, ':') between 2 and length(p_name) - 1 and octet_length(p_name) <= 500
    and exists (select from qwf.limits l where l.name = split_part(p_name, ':', 1) and l.keyed)
$$;

commit;
