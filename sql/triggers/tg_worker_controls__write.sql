-- Deploy qwf:triggers/tg_worker_controls__write
-- Purpose: Makes a row written to worker_controls by hand as valid as one written by
--   worker_control().
-- Guarantees: Sets updated_at for every statement, and does not carry an end that has passed over
--   to the next order. The login that gave the order is always the one of the session; a statement
--   can say in requested_by for whom it acts, as worker_control() can.
-- Raises: QW006 for an unknown queue, because nobody would ever read the order; QW005 for an end
--   that is no date of a calendar, because many drivers cannot read it, for a model server that the
--   host does not have, and for anything about servers on a queue where the host has none.

begin;

create function _qwf.tg_worker_controls__write() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from qwf.queues q where q.name = new.queue) then
    perform _qwf.raise_unknown_queue(new.queue);
  end if;
  if not isfinite(new.until) or new.until >= '10000-01-01 00:00Z' then
    raise exception using errcode = 'QW005', message = 'invalid end of an order',
      detail = format('until %s', new.until),
      hint = 'until is before the year 10000; leave it out for an order without an end';
  end if;
  if num_nonnulls(new.server, new.parallel, new.server_idle) > 0
    and (new.server, new.parallel, new.server_idle)
      is distinct from (old.server, old.parallel, old.server_idle) then  -- nulls for an insert
    perform _qwf.check_server_choice(new.host_label, new.queue,
      case when new.server is distinct from old.server then new.server end);
  end if;
  new.updated_at := qwf.now();
  if new.desired_state = 'on' or (new.until = old.until and new.until <= qwf.now()) then
    new.until := null;
  end if;
  if tg_op = 'INSERT' or (new.desired_state, new.stop_policy, new.reason, new.until)
      is distinct from (old.desired_state, old.stop_policy, old.reason, old.until) then
    new.login := session_user;
    new.requested_by := coalesce(
      case when new.requested_by is distinct from old.requested_by
          and _qwf.is_readable_name(new.requested_by) then new.requested_by end,
      _qwf.acting_for());
  else
    new.login := old.login;
    new.requested_by := old.requested_by;
  end if;
  return new;
end $$;

create trigger tg_worker_controls__write before insert or update on qwf.worker_controls
for each row execute function _qwf.tg_worker_controls__write();
comment on trigger tg_worker_controls__write on qwf.worker_controls is
  'Makes plain statements as valid as worker_control().';

commit;
