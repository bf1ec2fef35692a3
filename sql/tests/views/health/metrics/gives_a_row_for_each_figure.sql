-- 6 tests
select qwf_test.set_now('2026-01-01 12:00');
select qwf.register_worker('box', 'cpu', '{"slots": 4, "version": "0.1.0"}');
select qwf.enqueue('t', queue => 'cpu') from generate_series(1, 3);
select qwf.finish(c.job_id, c.token, 'completed') from qwf.claim('cpu', 'box', 1) c;
select qwf.pause_queue('gpu');
select qwf.report_metrics('box',
  '{"cpu_percent": 50, "gpus": [{"id": 0, "use_pct": 97}, {"id": 1, "use_pct": "all"}]}');
select _qwf.roll_up_counts(100);

create temp table found as select * from qwf.metrics;

select results_eq($$
  select f.name, f.value from found f
  where f.labels ->> 'queue' = 'cpu' and f.name ~ '^qwf_(queued|queue_slots|workers|attempts)'
  order by f.name collate "C"
$$, $$
  values ('qwf_attempts_total', 1::float8), ('qwf_queue_slots', 4), ('qwf_queued_jobs', 2),
    ('qwf_workers', 1)
$$, 'with what it counts');
select results_eq(
  $$ select f.labels, f.value from found f where f.name = 'qwf_gpu_ratio' order by f.labels $$,
  $$ values ('{"gpu": "0", "host": "box"}'::jsonb, 0.97::float8),
    ('{"gpu": "1", "host": "box"}', null) $$, 'null where the figure is not known');
select results_eq(
  $$ select f.value from found f where f.name = 'qwf_server_up' $$, $$ values (null::float8) $$,
  'a metric of what does not exist has one row');
select is_empty($$
  select f.name from found f
  group by f.name
  having count(distinct f.help) <> 1 or count(distinct f.kind) <> 1 or f.name !~ '^qwf(_[a-z]+)+$'
    or bool_or(f.kind = 'counter') <> (f.name ~ '_total$') or bool_or(f.help !~ '\.$')
$$, 'a metric has one help and one kind, and a counter is called so');
select is_empty($$
  select f.name, f.labels from found f group by f.name, f.labels having count(*) > 1
$$, 'no figure is there twice');
select results_eq(
  $$ select f.labels, f.value, f.kind from found f where f.name = 'qwf_unreadable' $$,
  $$ values ('{}'::jsonb, 0::float8, 'gauge') $$, 'nothing was unreadable');
