select qwf.register_worker('box', 'default', '{"tasks": ["a"]}');
select qwf.enqueue('a'), qwf.enqueue('b'), qwf.enqueue('c', queue => 'cpu');
select is((select string_agg(task, ',' order by task) from qwf.unassignable_jobs), 'b,c',
  'no task, no worker');
