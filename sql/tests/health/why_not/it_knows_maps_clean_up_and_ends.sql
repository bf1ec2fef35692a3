-- 7 tests
create function pg_temp.why(p_node text) returns text language sql as $$
  select string_agg(w, '; ') from qwf.why_not(qwf_test.job(p_node)) w $$;
select qwf_test.workflow('w', '[{"id": "list"},
  {"id": "each", "depends_on": ["list"], "map": {"$from": "list.items"}, "max_parallel": 2,
    "inputs": {"n": {"$from": "item"}}},
  {"id": "sum", "depends_on": ["each"]},
  {"id": "tidy", "depends_on": ["sum"], "run_if": "all_done"}]');
select qwf.enqueue_run('w');
select is(pg_temp.why('s/each'), 'it depends on s/list, which is queued', 'a dependency');
select qwf_test.attempt('s/list', output => '{"items": [1, 2, 3]}');
select is(pg_temp.why('s/each'), 'it is a map: 3 of its 3 elements have not ended', 'a map');
select is(pg_temp.why('s/each[2]'),
  'map s/each runs at most 2 elements at once, and as many are active',
  'an element');
select is(pg_temp.why('s/tidy'), 'it depends on s/sum, which is blocked; it runs once that has '
  'ended', 'clean-up');
select qwf_test.claim(), qwf.cancel_job(qwf_test.job('s/each[0]'));
select matches(pg_temp.why('s/each[0]'),
  'it is running: worker w, attempt 1, .*, and will be cancelled',
  'a running job that somebody wants stopped');
select qwf_test.workflow('stopped', '[
  {"id": "m", "map": [1, 2], "inputs": {"n": {"$from": "item"}}, "min_success": 1},
  {"id": "clean", "depends_on": ["m"], "run_if": "all_done"}]');
select qwf.enqueue_run('stopped');
select qwf.change_job(qwf_test.job('s/m[0]'), run_next => true);
select qwf_test.claim(), qwf.cancel_job(qwf_test.job('s/m'));
select is(pg_temp.why('s/clean'),
  'it depends on s/m, which is cancelled (elements yet to stop: 1); it runs once that '
  'has ended', 'clean-up after a map that has ended before its elements');
select qwf_test.question('text', '{"prompt": "What?", "expires": "1 h"}');
select matches(pg_temp.why('ask'), 'it waits for a person to answer: What\? until ', 'a question');
