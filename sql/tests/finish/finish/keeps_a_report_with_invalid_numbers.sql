-- 2 tests
select qwf.enqueue('a');
select qwf_test.attempt('a', 'fatal', error => 'boom', detail => '{
  "exit_code": "one", "signal": 1e300, "max_rss_bytes": -1e300, "cpu_seconds": null,
    "gpu_peak_bytes": [], "files": 7}');
select results_eq($$
  select outcome, error, exit_code, signal, max_rss_bytes, cpu_seconds, gpu_peak_bytes
  from qwf.attempt_overview
$$, $$
  values ('fatal', 'boom', null::int, null::int, null::bigint, null::real, null::bigint)
$$, 'anything but a number is null');

select qwf.enqueue('b');
select qwf_test.attempt('b', 'fatal', detail => '{"cpu_seconds": 1e-300}');
select is(max(cpu_seconds), 0::real, 'almost zero is zero')
from qwf.attempt_overview;
