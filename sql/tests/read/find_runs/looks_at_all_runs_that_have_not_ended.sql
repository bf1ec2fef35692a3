-- 3 tests
select qwf_test.workflow('w', '[{"id": "a"}]');
select qwf.enqueue_run('w', key => 'old'), qwf.enqueue_run('w', key => 'older than the rest');
select qwf.cancel_run(qwf.enqueue_run('w')) from generate_series(1, 10);
select results_eq(
  $$ select key, searched_to from qwf.find_runs('{"status": "queued"}', look_back => 5) $$,
  $$ values ('older than the rest', null::bigint), ('old', null) $$, 'however old they are');
select is(
  (select array_agg(f.key) from qwf.find_runs(
    '{"status": ["queued", "failed"]}', look_back => 5) f),
  '{NULL}', 'but not if the filter names a state of ended runs too');
select is(
  (select array_agg(f.key) from qwf.find_runs('{"key": "old"}', look_back => 11, max_rows => 1) f),
  '{NULL}', 'or none');
