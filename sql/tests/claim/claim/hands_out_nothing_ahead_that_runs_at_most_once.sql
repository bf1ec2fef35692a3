-- 9 tests
create temp table w as select qwf.register_worker('box', 'cpu', '{"writes_begun": true}') as id;
create function pg_temp.claim(max_jobs int, startable int default null) returns text
language sql volatile as $$
  select string_agg(c.task, ' ')
  from w, qwf.claim('cpu', w.id, claim.max_jobs, startable => claim.startable) c $$;
select qwf.enqueue(t, queue => 'cpu', at_most_once => t like 'm%')
from unnest('{m1,m2,a,m3,b,m4}'::text[]) t;
select is(pg_temp.claim(6, 0), 'a b', 'none while the worker could begin none');
select is(pg_temp.claim(6), 'm1', 'one, if it does not say how many');
select is(pg_temp.claim(6, 2), 'm2 m3', 'as many as it could begin');
select qwf.create_limit('disk', 9), qwf.create_limit('api', starts => 9, per => '1 hour');
select qwf.enqueue(t, queue => 'cpu', limit_by => 'disk', at_most_once => true)
from unnest('{m5,m6}'::text[]) t;
select qwf.enqueue('r', queue => 'cpu', limit_by => 'api');
select is(pg_temp.claim(6, 1), 'r', 'together with those of a rate');
select is(pg_temp.claim(6, 1), 'm4', 'the first of the others');
select qwf.enqueue('c', queue => 'cpu', limit_by => 'api', at_most_once => true);
select is(pg_temp.claim(2, 2), 'm5 m6', 'of a limit');
select is(pg_temp.claim(2, 1), 'c', 'with a rate of its own');
select qwf.enqueue('late', queue => 'cpu', at_most_once => true);
select qwf.claim('cpu', 'plain');
select is((select j.begun from qwf.jobs j where j.task = 'late'), true,
  'a worker that cannot write it has begun with the claim');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
