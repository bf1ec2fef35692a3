-- 2 tests
create function pg_temp.finds(p_check text) returns setof text language sql as $$
  select d.level || ': ' || d.says || coalesce(' -> ' || d.hint, '')
  from qwf.doctor(array[p_check]) d
$$;
select is(pg_temp.finds('options'),
  'fine: What is enqueued has the options that tasks declare.', 'it has');
select qwf.register_worker('box-a', 'cpu', '{"tasks": ["t"], "task_options": {"t":
  {"max_attempts": "5"}}}');
create temp table job as
select qwf.enqueue('t', queue => 'cpu') as id from generate_series(1, 2);
select is(pg_temp.finds('options'),
  format('note: job %s and 1 more: task ''t'' declares max_attempts '
  '5 in its code, which counts only for jobs from Python -> give --max-attempts 5, or max_attempts '
  '=> 5 in SQL', min(j.id)), 'two jobs lack one') from job j;
