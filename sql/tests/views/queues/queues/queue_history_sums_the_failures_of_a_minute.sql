insert into qwf.queue_minutes (queue, minute, queued, running, completed, error, fatal, tempfail,
  lost, released) values ('cpu', '2026-01-01 12:00Z', 3, 2, 9, 1, 1, 1, 1, 5);
select results_eq($$ select queued, running, completed, failed, released from qwf.queue_history
  where queue = 'cpu' $$, $$ values (3, 2, 9, 4, 5) $$, 'what was handed back is no failure');
