-- Deploy qwf:functions/limit_keys/_limit_place
-- Purpose: Returns the place of a key in the lines of its limit: a hash of its name; null: the
--   limit does not count by key.
-- Guarantees: A limit whose whole name is given goes first, so that limits with a colon in their
--   name stay what they are. The hash spreads names that begin alike, so that a claim may begin
--   anywhere in a line and be fair; its last 14 bits are the number of the key in
--   hash_locks.
-- Called by: every function that writes limit_by of a job.

begin;

create function _qwf.limit_place(p_limit_by text) returns bigint
language sql stable strict
set search_path = pg_catalog, pg_temp
as $$
  select hashtextextended(p_limit_by, 0)
  where strpos(p_limit_by, ':') > 0
    and not exists (select from qwf.limits l where l.name = p_limit_by)
$$;

commit;
