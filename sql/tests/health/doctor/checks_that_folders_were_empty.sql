-- 2 tests
create function pg_temp.finds(p_check text) returns setof text language sql as $$
  select d.level || ': ' || d.says || coalesce(' -> ' || d.hint, '')
  from qwf.doctor(array[p_check]) d
$$;
select is(pg_temp.finds('folders'),
  'fine: No job found the files of another in its folder.', 'they were');
select qwf.enqueue('t');
insert into _qwf.event_log (job_id, kind, detail)
select j.id, 'folder_moved', '{"moved_to": "/out/1~old"}' from qwf.jobs j;
select matches(pg_temp.finds('folders'), '^note: 1 folders that jobs got in the last day held the '
  'files of others, and were moved aside, such as to /out/1~old -> after a restore', 'one was not');
