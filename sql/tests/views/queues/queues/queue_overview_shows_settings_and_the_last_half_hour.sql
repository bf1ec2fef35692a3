-- 3 tests
select qwf_test.set_now('2026-01-01 12:00:30Z');
select qwf.create_queue('mail', lease => '1 min', retention => '2 days', on_failure => 'ask',
  keep_completed => false);
select results_eq($$ select lease, timeout, retention, placement, keep_completed, on_failure
  from qwf.queue_overview where queue = 'mail' $$, $$ values
  (interval '1 min', null::interval, interval '2 days', 'spread', false, 'ask') $$, 'as set');
insert into qwf.queue_minutes (queue, minute, queued, completed, error, lost)
select 'mail', qwf.now() - interval '30 s' - v.ago, v.queued, 2, 1, 1 from (values
  (interval '0', 9), ('1 min', null), ('29 min', 4), ('30 min', 5)) v (ago, queued);
select results_eq($$ select trend[1], trend[2], trend[29], trend[30], cardinality(trend), completed,
    failed from qwf.queue_overview where queue = 'mail' $$,
  $$ values (4, null::int, null::int, 9, 30, 6, 6) $$, 'the oldest minute first');
select results_eq($$ select completed, failed, array_remove(trend, null) from qwf.queue_overview
  where queue = 'cpu' $$, $$ values (0, 0, '{}'::int[]) $$, 'nobody looked');
