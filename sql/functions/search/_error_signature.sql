-- Deploy qwf:functions/search/_error_signature
-- Purpose: Returns a line of an error with its numbers, ids and paths made equal, so that errors of
--   one cause have one text.
-- Guarantees: <path> stands for a path or an address, # for a number, a UUID, a digest, or a word
--   in which letters stand between digits. Takes what _error_line returns: it is short, so that no
--   error takes long.
-- Called by: failure_groups, _job_matches.

begin;

create function _qwf.error_signature(p_line text) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select regexp_replace(regexp_replace(regexp_replace(p_line,
      E'(\\m[A-Za-z]:\\\\|\\m[a-z0-9+]+://|(^|(?<=[^[:alnum:]_./~-]))[.~]{0,2}/)'
        || E'[^\\s\'"(),;<>]*[^\\s\'"(),;<>:.]', '<path>', 'g'),
      E'\\m(0x[0-9a-fA-F]+'
        || '|[[:alnum:]_-]*[0-9][[:alnum:]_-]*[a-zA-Z][[:alnum:]_-]*[0-9][[:alnum:]_-]*)'
        || E'\\M', '#', 'g'),
      '[0-9]+([.,][0-9]+)*', '#', 'g')
$$;

commit;
