-- Deploy qwf:functions/health/_doctor_checks
-- Purpose: Lists the checks of doctor() in their order, each with what is so if it finds nothing.
-- Called by: doctor.

begin;

create function _qwf.doctor_checks() returns table (name text, about text)
language sql immutable
as $$
  select *
  from (
    values
      ('server', 'Version, durability, free connections, room for notifications.'),
      ('roles', 'The four roles exist and have their grants.'),
      ('settings', 'The intervals in qwf.settings fit each other.'),
      ('vacuum', 'Autovacuum keeps up with dead rows.'),
      ('snapshots', 'No old transaction or slot keeps dead rows.'),
      ('tick', 'tick() is called, due work is done, and events have numbers.'),
      ('runs', 'Events are applied.'),
      ('invariants', 'check_invariants() finds nothing.'),
      ('queues', 'Queued work has workers that can take it.'),
      ('workers', 'Workers are alive, switched on, and of the schema''s version.'),
      ('models', 'Model servers work.'),
      ('schedules', 'Schedules fire, and questions are answered.'),
      ('late', 'Runs, workflows and schedules are in time.'),
      ('alerts', 'Rules can be applied, and their messages are delivered.'),
      ('options', 'What is enqueued has the options that tasks declare.'),
      ('folders', 'No job found the files of another in its folder.')
  ) c (name, about)
$$;

commit;
