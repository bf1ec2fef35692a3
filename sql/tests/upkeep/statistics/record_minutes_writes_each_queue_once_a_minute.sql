-- 6 tests
select qwf_test.set_now('2040-01-01 10:00:07');
select qwf.create_queue('deep'), qwf.create_limit('one', 1);
select qwf.enqueue('t', queue => 'cpu'), qwf.enqueue('t', queue => 'cpu');
select qwf_test.claim('cpu', 1);
select qwf.enqueue('t', queue => 'gpu', limit_by => 'one'), qwf.enqueue('t', queue => 'gpu',
  run_at => '2041-01-01');
select qwf_test.travel('5 s');
select is(_qwf.record_minutes(), (select count(*) from qwf.queue_overview)::int,
  'a row for each queue');
select results_eq($$
  select m.queue, m.minute, m.queued, m.running, m.head_wait_seconds
  from qwf.queue_minutes m where m.queue not in ('default', 'llm') order by m.queue $$, $$
  values ('cpu', '2040-01-01 10:00'::timestamptz, 1, 1, 5::real),
    ('deep', '2040-01-01 10:00', 0, 0, null), ('gpu', '2040-01-01 10:00', 1, 0, 5) $$,
  'what waits and runs at this moment; scheduled jobs do not wait');
select qwf.enqueue('t', queue => 'cpu');
select is(_qwf.record_minutes(), 0, 'nothing more in the same minute');
select qwf_test.travel('47 s');
select is(_qwf.record_minutes(), 0, 'until its end');
select qwf_test.travel('3 min 1 s');
select ok(_qwf.record_minutes() > 0, 'then the next one');
select results_eq($$
  select m.minute, m.queued from qwf.queue_minutes m where m.queue = 'cpu' order by 1 $$, $$
  values ('2040-01-01 10:00'::timestamptz, 1), ('2040-01-01 10:04', 2) $$,
  'minutes that nobody saw have no row');
