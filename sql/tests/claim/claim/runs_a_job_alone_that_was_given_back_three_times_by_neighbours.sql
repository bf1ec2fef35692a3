-- 4 tests
select qwf.enqueue('held', max_attempts => 99, max_losses => 99, backoff => '[0]');
select qwf_test.attempt('held', 'released', detail => '{"reason": "worker_off"}');
select qwf_test.attempt('held', 'error');
select qwf_test.attempt('held', 'lost', detail => '{"reason": "neighbour"}');
select qwf_test.attempt('held', 'released', detail => '{"reason": "neighbour"}');
select qwf_test.attempt('held', 'released', detail => '{"reason": "neighbour"}');
select results_eq($$ select attempt, alone from qwf.claim('default', 'w') $$,
  $$ values (6, false) $$, 'not after other releases, errors and losses');
select qwf_test.report('held', 'released', detail => '{"reason": "neighbour"}');
select results_eq($$ select attempt, alone from qwf.claim('default', 'w') $$,
  $$ values (7, true) $$, 'after the third time');
select qwf_test.report('held', 'error');
select results_eq($$ select attempt, alone from qwf.claim('default', 'w') $$,
  $$ values (8, true) $$, 'and from then on');
select qwf_test.report('held', 'released', detail => '{"reason": "worker_off"}');
select is(c.alone, true, 'also if it comes with reports')
from qwf.finish_and_claim('[]', 'default', 'w') c;
