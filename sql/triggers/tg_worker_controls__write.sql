-- Deploy qwf:triggers/tg_worker_controls__write
-- Purpose: Makes a row written to worker_controls by hand as valid as one written by
--   worker_control().
-- Guarantees: Sets updated_at for every statement, and does not carry an end that has passed over
--   to the next order.
-- Raises: QW006 for an unknown queue, because nobody would ever read the order.

begin;

create function qwf.tg_worker_controls__write() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from qwf.queues q where q.name = new.queue) then
    perform _qwf.raise_unknown_queue(new.queue);
  end if;
  new.updated_at := qwf.now();
  if new.desired_state = 'on' or (new.until = old.until and new.until <= qwf.now()) then
    new.until := null;
  end if;
  return new;
end $$;
comment on function qwf.tg_worker_controls__write is
  'Refuses unknown queues, sets updated_at, and clears an end that has passed.';
revoke all on function qwf.tg_worker_controls__write from public;

create trigger tg_worker_controls__write before insert or update on qwf.worker_controls
for each row execute function qwf.tg_worker_controls__write();
comment on trigger tg_worker_controls__write on qwf.worker_controls is
  'Makes plain statements as valid as worker_control().';

commit;
