-- 4 tests
select qwf.register_worker('box', 'gpu');
select qwf.create_limit('few', 2);
create function pg_temp.ahead(p_task text) returns text language sql as
$$ select substring(min(w) filter (where w ~ 'ahead') from '^(no job|[0-9]+ job)')
   from qwf.why_not((select j.id from qwf.jobs j where j.task = p_task)) w $$;
select qwf.enqueue('first', queue => 'gpu'), qwf.enqueue('limited', queue => 'gpu',
  limit_by => 'few'), qwf.enqueue('t', queue => 'gpu'), qwf.enqueue('last', queue => 'gpu'),
  qwf.enqueue('other', queue => 'cpu', priority => 1);
select is(pg_temp.ahead('t'), '2 job', 'earlier ones, with a limit and without');
select qwf.enqueue('urgent', queue => 'gpu', priority => 1),
  qwf.enqueue('urgent_too', queue => 'gpu', priority => 1, limit_by => 'few');
select is(pg_temp.ahead('t'), '4 job', 'those of a lower priority number');
select qwf.change_job((select j.id from qwf.jobs j where j.task = 'last'), run_next => true);
select is(pg_temp.ahead('t'), '5 job', 'one that runs next');
select is(pg_temp.ahead('last'), 'no job', 'before which nothing runs');
