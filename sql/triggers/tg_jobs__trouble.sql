-- Deploy qwf:triggers/tg_jobs__trouble
-- Purpose: Notifies listeners that a job failed or that a person is asked, for any reason.
-- Guarantees: Any other update of a job costs one look at its status. There is no trigger on
--   insert, which every enqueue would pay for: _insert_elements, whose jobs can start as failed,
--   announces them itself.
-- Notifies: qwf_events.

begin;

create function _qwf.tg_jobs__trouble() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform _qwf.announce_trouble(new);
  return null;
end $$;

create trigger tg_jobs__trouble after update on qwf.jobs
for each row when (new.status in ('failed', 'awaiting_input') and old.status <> new.status)
execute function _qwf.tg_jobs__trouble();
comment on trigger tg_jobs__trouble on qwf.jobs is
  'Announces a job that failed or asks a person, if settings.notify_events is on.';

commit;
