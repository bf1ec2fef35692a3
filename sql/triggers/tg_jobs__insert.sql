-- Deploy qwf:triggers/tg_jobs__insert
-- requires: schema/jobs
-- requires: functions/_wake
-- Purpose: Wakes sleepers when jobs are inserted as queued, in the writer's own transaction.
-- Guarantees: A rolled-back insert wakes nobody; once per statement, whatever the number of rows.
-- Notifies: sleepers of the queues concerned.

begin;

create function qwf.tg_jobs__insert() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform qwf._wake(n.queue, count(*)::int)
  from inserted n
  where n.status = 'queued'
  group by n.queue;
  return null;
end $$;
comment on function qwf.tg_jobs__insert() is 'Wakes sleepers of the queues that got new work.';
revoke all on function qwf.tg_jobs__insert() from public;

create trigger tg_jobs__insert after insert on qwf.jobs
referencing new table as inserted
for each statement execute function qwf.tg_jobs__insert();
comment on trigger tg_jobs__insert on qwf.jobs is
  'New work wakes as many sleepers as there are new jobs.';

commit;
