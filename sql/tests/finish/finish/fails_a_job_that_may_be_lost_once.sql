-- 3 tests
select qwf.enqueue('a', max_losses => 1), qwf.enqueue('b', max_losses => 2);
select qwf_test.attempt('a', 'lost', detail => '{"reason": "timeout"}');
select is(qwf_test.state('a'), 'failed', 'its first loss is its last');
select qwf_test.attempt('b', 'lost');
select is(qwf_test.state('b'), 'queued', 'one more try');
select qwf_test.attempt('b', 'lost');
select is(qwf_test.state('b'), 'failed', 'two losses');
