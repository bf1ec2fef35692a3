-- 3 tests
-- A queue, a box and a schedule are called gpu: what ends the alert of one ends no other.
select qwf_test.set_now('2026-01-01 12:00Z');
select qwf.set_alert('all', '{"when": ["queue_waits", "worker_dead", "schedule_late"],
  "do": {"receiver": "ops"}}');
insert into _qwf.event_log (at, kind, subject, detail) values
  (qwf.now(), 'queue_waits', 'gpu', '{}'), (qwf.now(), 'worker_dead', 'gpu', '{}'),
  (qwf.now(), 'schedule_late', 'gpu', '{}');
select qwf.tick();
select is((select count(*)::int from qwf.open_alerts where closed_at is null), 3, 'three alerts');
insert into _qwf.event_log (at, kind, subject, detail) values
  (qwf.now(), 'worker_back', 'gpu', '{}');
select qwf_test.travel('10 min');
select qwf.tick();
select qwf_test.travel('10 min');
select qwf.tick();
select results_eq($$ select kind from qwf.open_alerts where closed_at is null order by kind $$,
  $$ values ('queue_waits'), ('schedule_late') $$, 'the box is back, the others go on');
select is_empty('select * from qwf.check_invariants()', 'nothing is broken');
