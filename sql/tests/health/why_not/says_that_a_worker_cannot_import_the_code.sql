-- 2 tests
create function pg_temp.why() returns text language sql as $$
  select string_agg(w, '; ') from qwf.why_not(qwf_test.job('resize')) w $$;
select qwf.register_worker('box-a', 'default', '{"tasks": ["other"]}');
select qwf.enqueue('resize');
select matches(pg_temp.why(), 'cannot take it: it has no task resize$', 'it has no such task');
update qwf.workers set stats = '{"withdrawn": {"task resize": "No module named PIL"}}';
select matches(pg_temp.why(),
  'cannot take it: its code of task resize cannot be imported: No module named PIL$',
  'it has the task, but cannot import its code');
