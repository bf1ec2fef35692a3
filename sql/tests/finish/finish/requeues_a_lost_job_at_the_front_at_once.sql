-- 2 tests
select qwf.enqueue('a'), qwf.enqueue('b');
select qwf_test.attempt('a', 'lost', error => 'killed', detail => '{"reason": "oom"}');
select results_eq($$
  select status::text, failures, losses, last_error from qwf.jobs where id = qwf_test.job('a')
$$, $$ values ('queued', 0, 1, 'killed') $$, 'a loss is no failure of the body');
select is(qwf_test.claim('default', 2), 'claimed a, b', 'it goes first');
