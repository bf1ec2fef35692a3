-- Deploy qwf:functions/queues/create_limit
-- Purpose: Creates or changes a named limit on how many jobs run at once.
-- Guarantees: Applies to jobs of every queue that name it with limit_by; with max_running 1 the
--   jobs of a queue run strictly in claim order. Lowering it stops no job: nothing more is handed
--   out until fewer run. Waits for no claim.
-- Locks: the limit, then its free slots that nobody has locked.
-- Notifies: sleepers of the queues where jobs wait for it.
-- Raises: QW005 for an invalid name or number.
-- Called by: administrators.

begin;

create function qwf.create_limit(name text, max_running int) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  if coalesce(create_limit.name !~ '^[^[:space:]]{1,200}$', true)
    or starts_with(create_limit.name, 'queue:')
    or coalesce(create_limit.max_running not between 1 and 10000, true) then
    raise exception using errcode = 'QW005', message = 'invalid limit',
      detail = format('name %L, max_running %s', left(create_limit.name, 200),
        create_limit.max_running),
      hint = 'a name has 1 to 200 characters without blanks, max_running is 1 to 10000; '
        'to limit a queue: select qwf.create_queue(''gpu'', max_running => 2)';
  end if;
  perform _qwf.store_limit(create_limit.name, create_limit.max_running);
end $$;
comment on function qwf.create_limit is
  'Creates a limit that jobs name with limit_by, or changes how many of them may run at once; '
  'QW005 for an invalid name or number.';
call _qwf.allow('qwf.create_limit', 'qwf_admin');

commit;
