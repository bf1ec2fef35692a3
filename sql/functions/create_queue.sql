-- Deploy qwf:functions/create_queue
-- requires: schema/queues
-- requires: schema/roles
-- Purpose: Makes a queue name usable.
-- Guarantees: Calling it again only changes what is given.
-- Raises: QW005 for a name or interval that cannot be.
-- Called by: administrators, migrations of host applications.

begin;

create function qwf.create_queue(
  name text, lease interval default null, timeout interval default null,
  retention interval default null)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  if create_queue.name is null or create_queue.name !~ '^[a-z][a-z0-9_.-]{0,62}$' then
    raise exception using errcode = 'QW005', message = 'not a queue name',
      detail = format('name: %L', create_queue.name),
      hint = 'use 1 to 63 lower-case letters, digits, dots, dashes or underscores, a letter first';
  end if;
  if create_queue.lease not between '1 s' and '1 day'
    or create_queue.timeout <= '0 s' or create_queue.retention <= '0 s' then
    raise exception using errcode = 'QW005', message = 'interval out of range',
      detail = format('lease %s, timeout %s, retention %s',
        create_queue.lease, create_queue.timeout, create_queue.retention),
      hint = 'a lease is one second to one day, timeout and retention are positive';
  end if;
  insert into qwf.queues as q (name, lease, timeout, retention)
  values (create_queue.name, create_queue.lease, create_queue.timeout, create_queue.retention)
  on conflict (name) do update set
    lease = coalesce(excluded.lease, q.lease),
    timeout = coalesce(excluded.timeout, q.timeout),
    retention = coalesce(excluded.retention, q.retention);
end $$;
comment on function qwf.create_queue(text, interval, interval, interval) is
  'Creates a queue, or changes the defaults given of one that exists; QW005 for a bad name.';
revoke all on function qwf.create_queue(text, interval, interval, interval) from public;
call qwf._allow('qwf.create_queue(text, interval, interval, interval)', 'qwf_admin');

commit;
