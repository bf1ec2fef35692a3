-- 5 tests
create function pg_temp.oldest() returns text language sql as
$$ select j.task from qwf.count_jobs() c left join qwf.jobs j on j.queued_at = c.oldest_since
  where c.queue = 'cpu' $$;
select qwf_test.set_now('2026-01-01');
select qwf.create_limit('api', 1);
select qwf.enqueue('low', queue => 'cpu', priority => 300), qwf_test.travel('1 s');
select qwf.enqueue('of_api', queue => 'cpu', limit_by => 'api'), qwf_test.travel('1 s');
select qwf.enqueue('usual', queue => 'cpu'), qwf_test.travel('1 s');
select qwf.enqueue('later', queue => 'cpu'), qwf_test.travel('1 s');
select qwf.enqueue('ahead', queue => 'cpu', priority => 200), qwf_test.travel('1 s');
select is(pg_temp.oldest(), 'low', 'the first job of a low priority');
select qwf.change_job(qwf_test.job('ahead'), run_next => true);
select is(pg_temp.oldest(), 'low', 'whatever was moved ahead of it');
select qwf.cancel_job(qwf_test.job('low'));
select is(pg_temp.oldest(), 'of_api', 'the first job of a limit');
select qwf.cancel_job(qwf_test.job('of_api'));
select is(pg_temp.oldest(), 'usual', 'then the first of the next priority');
select qwf.cancel_job(j.id) from qwf.jobs j where j.status = 'queued';
select is(pg_temp.oldest(), null, 'or nobody');
