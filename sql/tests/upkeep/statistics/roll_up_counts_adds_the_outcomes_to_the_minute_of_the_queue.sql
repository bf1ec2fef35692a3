-- 3 tests
select qwf_test.set_now('2040-01-01 10:00:30');
insert into qwf.attempt_counts (minute, queue, task, outcome, waits, runs)
select m.minute::timestamptz, m.queue, t.task, o.outcome, array[1, 2], array[1, 2]
from (values ('2040-01-01 10:00', 'cpu'), ('2040-01-01 09:59', 'gpu')) m (minute, queue),
  unnest(array['a', 'b']) t (task),
  unnest(array['completed', 'error', 'fatal', 'tempfail', 'lost', 'released', 'cancelled'])
    with ordinality o (outcome, nth),
  generate_series(1, o.nth);
select is(_qwf.roll_up_counts(), 112, 'each row once');
select set_eq($$ select to_jsonb(m) - '{minute,queue}'::text[] from qwf.queue_minutes m $$,
  $$ values ('{"queued": null, "running": null, "head_wait_seconds": null, "completed": 4,
    "error": 8, "fatal": 12, "tempfail": 16, "lost": 20, "released": 24,
    "cancelled": 28}'::jsonb) $$,
  'attempts of all tasks by outcome; nobody has looked at the queue itself');
insert into qwf.attempt_counts (minute, queue, task, outcome, waits, runs) values
  ('2040-01-01 10:00', 'cpu', 'a', 'completed', '{0}', '{0}');
select _qwf.record_minutes(), _qwf.roll_up_counts();
select results_eq($$ select m.queued, m.completed, m.lost from qwf.queue_minutes m
  where m.queue = 'cpu' $$, 'values (0, 5, 20)',
  'whichever comes first, the minute has both');
