-- Without the filter it would compare every job with every worker.
begin;
select plan(1);

create function pg_temp.plan_of(p_query text) returns text
language plpgsql
as $$
declare
  v_line text;
  v_plan text := '';
begin
  for v_line in execute 'explain (costs off) ' || p_query loop
    v_plan := v_plan || v_line || E'\n';
  end loop;
  return v_plan;
end $$;
insert into qwf.jobs (task, queue, status) select 'a', 'cpu', 'queued' from generate_series(1, 5000);
analyze qwf.jobs;
select matches(pg_temp.plan_of('select * from qwf.job_workers where job_id = 7'),
  'jobs_pkey on jobs j\s+Index Cond: \(id = ', 'the job is found by its id');

select * from finish();
rollback;
