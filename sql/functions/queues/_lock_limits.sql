-- Deploy qwf:functions/queues/_lock_limits
-- Purpose: Keeps limits from being dropped until this transaction ends.
-- Guarantees: drop_limit waits for it, and then finds the jobs that name the limit; a limit that is
--   being dropped is waited for, and then is gone. Waits for no claim, and for no create_limit.
-- Locks: the limits FOR KEY SHARE, as a foreign key would; of a key (customer:acme) its limit.
-- Called by: _check_change, _line_up_again, enqueue_many, enqueue_run, retry_job.

begin;

create function _qwf.lock_limits(variadic p_names text[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform from qwf.limits l
  where l.name = any (array(
    select n from unnest(p_names) n union select split_part(n, ':', 1) from unnest(p_names) n))
  order by l.name
  for key share;
end $$;

commit;
