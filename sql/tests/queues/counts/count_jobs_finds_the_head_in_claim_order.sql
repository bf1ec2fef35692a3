-- 7 tests
create function pg_temp.head() returns text language sql as
$$ select j.task from qwf.count_jobs() c left join qwf.jobs j on j.id = c.head
  where c.queue = 'cpu' $$;
select is(pg_temp.head(), null, 'nothing is queued');
select qwf.create_limit('b', 1), qwf.create_limit('a', 1);
select qwf.enqueue('of_b', queue => 'cpu', limit_by => 'b'),
  qwf.enqueue('of_a', queue => 'cpu', limit_by => 'a');
select is(pg_temp.head(), 'of_b', 'the first limited job, whichever limit it has');
select qwf.enqueue('free', queue => 'cpu', priority => 50);
select is(pg_temp.head(), 'free', 'a job without a limit');
select qwf.enqueue('second_of_a', queue => 'cpu', limit_by => 'a', priority => 10);
select is(pg_temp.head(), 'second_of_a', 'the lower priority number');
select qwf.change_job(qwf_test.job('of_b'), run_next => true);
select is(pg_temp.head(), 'of_b', 'what was moved ahead');
select is(
  (select h.head_since from qwf.count_jobs() h where h.queue = 'cpu'),
  (select j.queued_at from qwf.jobs j where j.task = 'of_b'), 'and since when it waits');
select qwf.enqueue('t', queue => 'gpu', limit_by => null, priority => -50);
select is(pg_temp.head(), 'of_b', 'each queue by itself');
