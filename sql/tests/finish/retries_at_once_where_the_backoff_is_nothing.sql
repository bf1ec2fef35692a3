begin;
select plan(1);

select qwf.enqueue('a', max_attempts => 2, backoff => '[0]');
select qwf_test.attempt('a', 'error');
select is(qwf_test.state('a'), 'queued', 'no wait, no schedule');

select * from finish();
rollback;
