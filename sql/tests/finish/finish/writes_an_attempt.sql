-- 2 tests
select qwf_test.set_now('2030-01-01');
select qwf.enqueue('a');
select qwf_test.travel('2 s');
select qwf_test.claim('default');
create temp table held as select token from qwf.jobs;
select qwf_test.travel('3 s');
select qwf_test.report('a', 'fatal', error => 'boom', detail => '{
  "reason": "crashed", "exit_code": 70, "signal": 11, "max_rss_bytes": 5000000000,
    "cpu_seconds": 1.5,
  "gpu_peak_bytes": 7, "log_tail": "bye", "host": "box"}');
select results_eq($$
  select attempt, token, worker, queued_at, started_at, finished_at, outcome, reason, error
  from qwf.attempt_overview
$$, $$
  select 1, token, 'w', '2030-01-01'::timestamptz, '2030-01-01 00:00:02'::timestamptz,
    '2030-01-01 00:00:05'::timestamptz, 'fatal', 'crashed', 'boom'
  from held
$$, 'who, when and how it ended');
select results_eq($$
  select exit_code, signal, max_rss_bytes, cpu_seconds, gpu_peak_bytes, log_tail
  from qwf.attempt_overview
$$, $$ values (70, 11, 5000000000, 1.5::real, 7::bigint, 'bye') $$, 'and what it used');
