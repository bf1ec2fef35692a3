-- 4 tests
select qwf_test.set_now('2026-01-01 12:00:30+00');
insert into qwf.queue_minutes (queue, minute, queued, running, head_wait_seconds, completed, error,
  lost, released)
values ('cpu', '2026-01-01 11:57Z', 3, 2, 7, 9, 1, 1, 5),
  ('gpu', '2026-01-01 11:57Z', 1, 1, 60, 0, 0, 0, 0),
  ('cpu', '2026-01-01 11:58Z', 0, 4, null, 0, 0, 0, 0),
  ('gpu', '2026-01-01 11:58Z', 0, 0, null, 1, 0, 0, 0),
  ('cpu', '2026-01-01 11:59Z', null, null, null, 2, 0, 0, 0),
  ('qwf.runs', '2026-01-01 11:59Z', null, null, null, 8, 0, 0, 0),
  ('cpu', '2026-01-01 12:00Z', 9, 9, null, 9, 0, 0, 0),
  ('cpu', '2026-01-01 10:59Z', 9, 9, null, 9, 0, 0, 0);
select is((select count(*)::int from qwf.last_hour), 60, 'a row for each full minute');
select results_eq($$ select minute, queued, running, started, completed, failed, first_wait_seconds
  from qwf.last_hour where minute >= '2026-01-01 11:57Z' $$,
  $$ values ('2026-01-01 11:57Z'::timestamptz, 4::bigint, 3::bigint, 17::bigint, 9::bigint,
    2::bigint, 60::real), ('2026-01-01 11:58Z', 0, 4, null, 1, 0, null),
    ('2026-01-01 11:59Z', null, null, null, 2, 0, null) $$,
  'sums of all queues but those of the engine; what began is what ended and what runs more');
select is((select min(minute) from qwf.last_hour), '2026-01-01 11:00Z', 'the oldest is first');
update qwf.queue_minutes set running = 0, queued = 0 where minute = '2026-01-01 11:59Z';
select results_eq($$ select started from qwf.last_hour where minute = '2026-01-01 11:58Z' $$,
  $$ values (0::bigint) $$, 'never less than none');
