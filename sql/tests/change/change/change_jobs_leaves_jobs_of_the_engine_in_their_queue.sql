-- 5 tests
select qwf_test.workflow('w', '[{"id": "a"}]');
select qwf.create_limit('one', 1);
select qwf.enqueue_run('w', limit_by => 'one'), qwf.enqueue_run('w', limit_by => 'one');
create temp view waits as
  select id, queue, limit_by from qwf.jobs where queue = 'qwf.runs' and status = 'queued';
select results_eq($$ select v.verdict, v.detail from waits w
    cross join lateral qwf.change_jobs(array[w.id], queue => 'cpu') v $$,
  $$ select 'refused', format('job %s is on the queue qwf.runs of the engine, or is being changed',
    id) from waits $$, 'no worker could run it');
select throws_ok($$ select qwf.change_job(id, queue => 'cpu') from waits $$, 'QW002', null,
  'nor one by one');
select results_eq('select queue from waits', $$ values ('qwf.runs') $$, 'it has not moved');
select qwf.change_job(id, limit_by => '') from waits;
select qwf.tick();
select results_eq($$ select distinct status::text from qwf.jobs where queue = 'qwf.runs' $$,
  $$ values ('running') $$,
  'a run in line may leave its limit, and starts');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
