-- Deploy qwf:triggers/tg_jobs__trouble
-- Purpose: Tells whoever listens that a job failed or that a person is asked, however that came
--   about.
-- Guarantees: What does neither costs a look at its status. There is none for what is inserted,
--   which every enqueue would pay for: _insert_elements, whose jobs can begin as failed, says so.
-- Notifies: qwf_events.

begin;

create function qwf.tg_jobs__trouble() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform _qwf.announce_trouble(new);
  return null;
end $$;
comment on function qwf.tg_jobs__trouble is
  'Announces a job that failed or asks a person.';
revoke all on function qwf.tg_jobs__trouble from public;

create trigger tg_jobs__trouble after update on qwf.jobs
for each row when (new.status in ('failed', 'awaiting_input') and old.status <> new.status)
execute function qwf.tg_jobs__trouble();
comment on trigger tg_jobs__trouble on qwf.jobs is
  'A job that failed or asks a person is announced, if switched on.';

commit;
