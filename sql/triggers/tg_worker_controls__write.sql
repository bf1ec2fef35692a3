-- Deploy qwf:triggers/tg_worker_controls__write
-- Purpose: Keeps what is written to worker_controls by hand as sound as what worker_control()
--   writes.
-- Guarantees: updated_at is right whatever the statement says, and an end that has passed is not
--   carried over to the next order.
-- Raises: QW006 for an unknown queue: an order that nobody would ever read.

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
  'Plain statements are as sound as worker_control().';

commit;
