-- 6 tests
create function pg_temp.found(p_look_at int default 100) returns text language sql as $$
  select coalesce(string_agg(f.task, ',' order by f.task), 'none')
  from qwf.find_unassignable(p_look_at) f
$$;
select qwf.create_queue('mail'), qwf.create_limit('l', 1), qwf.create_limit('m', 1);
select qwf.register_worker('box', 'default', '{"tasks": ["a"]}');
select qwf.enqueue('a'), qwf.enqueue('b'), qwf.enqueue('c', queue => 'mail');
select is(pg_temp.found(), 'b', 'no worker has the task; nobody at all serves the other queue');
select is(pg_temp.found(1), 'none', 'no further than it may look');
select qwf.enqueue('d', priority => 200), qwf.enqueue('a', limit_by => 'l'),
  qwf.enqueue('e', limit_by => 'm'), qwf.enqueue('f', limit_by => 'm');
select is(pg_temp.found(1), 'd,e', 'and at the first of each priority and limit');
select qwf.pause_queue('default');
select is(pg_temp.found(), 'none', 'not in a queue that is paused');
select qwf.resume_queue('default');
select qwf.register_worker('other', 'default');
select is(pg_temp.found(), 'none', 'somebody would take them');
select qwf.worker_control('other', 'default', 'off');
select is(pg_temp.found(), 'b,d,e', 'but is switched off');
