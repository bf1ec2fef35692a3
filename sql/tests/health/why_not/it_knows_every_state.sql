-- 8 tests
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]}]');
select qwf.enqueue_run('w');
create function pg_temp.why(p_name text) returns text language sql as $$
  select string_agg(w, '; ') from qwf.why_not(qwf_test.job(p_name)) w $$;
select is(pg_temp.why('s/b'), 'it depends on s/a, which is queued', 'blocked');
select qwf_test.claim('cpu');
select matches(pg_temp.why('s/a'), 'it is running: worker w, attempt 1', 'running');
select qwf_test.report('s/a', 'tempfail',
  error => E'busy\nTraceback (most recent call last):\n  File "a.py", line 1');
select matches(pg_temp.why('s/a'), 'it waits for [^\n]*, after: busy$', 'scheduled');
select qwf_test.attempt('s/a', 'fatal', error => 'boom');
select is(pg_temp.why('s/a'), 'it has ended: failed, boom', 'failed');
select qwf_test.question('confirm', '{"prompt": "Go?"}');
select is(pg_temp.why('ask'), 'it waits for a person to answer: Go?', 'awaiting input');
select qwf.enqueue('later', run_at => 'infinity');
select is(pg_temp.why('later'), 'it waits for infinity', 'held until somebody changes that');
select qwf.enqueue('mail', on_failure => 'ask', expires => '1 h');
select qwf_test.attempt('mail', 'fatal');
select alike(pg_temp.why('mail'), 'it waits for a person to answer: It failed.%abort?',
  'a decision about a failure does not expire');
select throws_ok('select qwf.why_not(4711)', 'QW001', null, 'no such job');
