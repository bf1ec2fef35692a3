-- 5 tests
-- Anyone who can connect can use it up. A job that itself needs too much memory still fails.
select qwf_test.workflow('pair',
  '[{"id": "a"}, {"id": "b", "depends_on": ["a"], "inputs": {"x": {"$from": "a.x"}}}]');
select qwf.enqueue_run('pair');
select qwf_test.attempt('s/a', output => '{"x": 1}');
select qwf.tick();

create or replace function _qwf.resolve(p_value jsonb, p_scope jsonb)
returns _qwf.resolution language plpgsql as $$
begin
  raise exception using errcode = '53200', message = 'no memory',
    hint = current_setting('qwf_test.hint');
end $$;

select set_config('qwf_test.hint', 'You might need to increase max_locks_per_transaction.', true);
select throws_ok($$ select qwf_test.claim('cpu', 5) $$, '53200', 'no memory', 'the claim fails');
select is(qwf_test.state('s/b'), 'queued', 'the job waits');
select is(qwf_test.run_state(), 'running', 'and its run goes on');
select set_config('qwf_test.hint', '', true);
select is(qwf_test.claim('cpu', 5), 'claimed nothing',
  'a job that needs too much memory is not handed out');
select is(qwf_test.state('s/b'), 'failed', 'it fails, so that it does not stop the queue');
