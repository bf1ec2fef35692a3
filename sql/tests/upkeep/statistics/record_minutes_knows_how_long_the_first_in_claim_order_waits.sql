-- 3 tests
create function pg_temp.waited() returns real
language plpgsql
as $$
begin
  perform qwf_test.travel('1 min'), _qwf.record_minutes();
  return (select m.head_wait_seconds from qwf.queue_minutes m
    where m.queue = 'cpu' order by m.minute desc limit 1);
end $$;

select qwf_test.set_now('2040-01-01 10:00');
select qwf.create_limit('one', 1), qwf.enqueue('late', queue => 'cpu', priority => 200);
select qwf_test.travel('10 s');
select qwf.enqueue('first', queue => 'cpu');
select is(pg_temp.waited(), 60::real, 'not the oldest one');
select qwf.enqueue('limited', queue => 'cpu', priority => 1, limit_by => 'one');
select is(pg_temp.waited(), 60::real, 'a job with a limit too');
select qwf.change_job(qwf_test.job('late'), run_next => true);
select is(pg_temp.waited(), 190::real, 'one that an operator moved ahead');
