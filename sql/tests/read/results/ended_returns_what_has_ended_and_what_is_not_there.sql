-- 5 tests
select qwf.enqueue(task) from unnest('{done,broken,waits}'::text[]) task;
select qwf_test.attempt('done', output => '{"n": 1}');
select qwf_test.attempt('broken', 'fatal', error => 'boom');
create function pg_temp.ended(p_tasks text[]) returns setof jsonb language sql as $$
  select e from qwf.ended(array(
    select qwf_test.job(task) from unnest(p_tasks) with ordinality t (task, n) order by n)) e $$;

select results_eq(
  $$ select pg_temp.ended('{done,broken,waits}') order by 1 $$,
  $$ select qwf.result(qwf_test.job(task)) from unnest('{done,broken}'::text[]) task order by 1 $$,
  'of those that have ended, what result() says; nothing of the one that waits');
select is(array(select e -> 'job_id' from qwf.ended('{-7}') e where e -> 'status' = 'null'),
  array[jsonb '-7'], 'one that is not there has no status');
select is_empty('select qwf.ended()', 'nothing for no id');

select qwf_test.workflow('r', '[{"id": "a", "node": "x"}]');
create temp table run as select qwf.enqueue_run('r') as id;
select is_empty('select qwf.ended(run_ids => array(select id from run))', 'a run that goes on');
select qwf.cancel_run(id) from run;
select is((select e - 'run_id' from qwf.ended(run_ids => array(select id from run)) e) ->> 'status',
  'cancelled', 'and one that has ended');
