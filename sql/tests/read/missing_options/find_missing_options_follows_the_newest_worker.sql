-- 3 tests
create function pg_temp.lacks() returns text language sql as $$
  select coalesce(string_agg(m.declared, ','), 'nothing') from qwf.find_missing_options() m
$$;
select qwf.enqueue('t');
select qwf_test.set_now('2030-01-01 00:00');
select qwf.register_worker('old', 'cpu',
  '{"tasks": ["t"], "task_options": {"t": {"max_attempts": "5"}}}');
select qwf_test.set_now('2030-01-01 00:01');
create temp table worker as select qwf.register_worker('new', 'cpu',
  '{"tasks": ["t"], "task_options": {"t": {"max_attempts": "6"}}}') as id;
select is(pg_temp.lacks(), '6', 'the newest worker with the task counts');
select qwf.update_worker(w.id, '{"task_options": {"t": {"max_attempts": "7"}}}') from worker w;
select is(pg_temp.lacks(), '7', 'its code has changed');
select qwf.update_worker(w.id, '{"task_options": {}}') from worker w;
select is(pg_temp.lacks(), 'nothing', 'it declares none any more');
