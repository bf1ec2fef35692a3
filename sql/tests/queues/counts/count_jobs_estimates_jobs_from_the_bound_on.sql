-- 6 tests
create function pg_temp.add(p_queue text, p_count int, p_args jsonb default '{}') returns bigint
language sql as $$
  select count(*) from qwf.enqueue_many((
    select jsonb_agg(p_args || jsonb_build_object('task', 't', 'queue', p_queue))
    from generate_series(1, p_count)))
$$;
create function pg_temp.off_by(p_queue text, p_jobs int) returns float8 language sql as $$
  select abs(c.queued - p_jobs) / p_jobs::float8
  from qwf.count_jobs(100) c where c.queue = p_queue and c.estimated
$$;
select qwf.create_limit('api', 5);
select pg_temp.add('cpu', 8000);
select pg_temp.add('cpu', 500), pg_temp.add('gpu', 500, '{"priority": 3}')
from generate_series(1, 10);
select pg_temp.add('gpu', 3000, '{"limit_by": "api"}'),
  pg_temp.add('gpu', 2000, '{"limit_by": "api", "priority": 7}');
select ok(pg_temp.off_by('cpu', 13000) < 0.1, 'one priority, in turn with another queue');
select ok(pg_temp.off_by('gpu', 10000) < 0.1, 'with priorities and limits');
select pg_temp.add('llm', 150, jsonb_build_object('priority', g)) from generate_series(1, 3) g;
select ok(pg_temp.off_by('llm', 450) < 0.1, 'short ones are counted');
select is(c.queued, 450, 'as all are below the bound') from qwf.count_jobs(451) c
where c.queue = 'llm' and not c.estimated;

select qwf.enqueue('urgent', queue => 'llm', priority => 0);
create function pg_temp.give_back(p_count int) returns bigint language sql as $$
  select count(qwf.finish(c.job_id, c.token, 'released'))
  from qwf.claim('llm', 'w', p_count) c
$$;
select pg_temp.give_back(1);
select ok(pg_temp.off_by('llm', 451) < 0.1, 'a priority whose jobs were all given back');
select pg_temp.give_back(401);
select ok(pg_temp.off_by('llm', 451) < 0.1, 'jobs given back count, too');
