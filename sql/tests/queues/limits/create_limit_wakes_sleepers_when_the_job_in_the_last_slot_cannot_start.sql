-- 4 tests
-- Its claim held the slot for a moment, so that other claims found nothing.
select qwf.create_limit('api', 1);
select qwf_test.workflow('w', '[{"id": "a"},
  {"id": "b", "depends_on": ["a"], "limit_by": "api", "inputs": {"x": {"$from": "a.nothing"}}}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/a');
select qwf.enqueue('c', queue => 'gpu', limit_by => 'api');
select qwf.sleep('g', 'gpu');
update qwf.sleepers set since = since - interval '10 ms';
select is(qwf_test.claim('cpu', 5), 'claimed nothing', 'it cannot start');
select is(qwf_test.woken(), 'g', 'c waited for the slot');

select qwf.create_queue('cpu', max_running => 1);
select qwf.enqueue_run('w');
select qwf_test.attempt('s/a');
select qwf.enqueue('d', queue => 'cpu');
select qwf.sleep('h', 'cpu');
update qwf.sleepers set since = since - interval '10 ms';
select is(qwf_test.claim('cpu', 5), 'claimed nothing', 'the next one cannot start either');
select is(qwf_test.woken(), 'g, h', 'd waited for the slot of its queue');
