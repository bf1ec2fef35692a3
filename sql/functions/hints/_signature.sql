-- Deploy qwf:functions/hints/_signature
-- Purpose: Returns 64 characters that only the engine can compute for a text.
-- Called by: _read_hints, _write_hints.

begin;

create function _qwf.signature(p_text text) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select encode(sha256(convert_to(p_text || s.key, 'UTF8')), 'hex') from _qwf.secret s
$$;

commit;
