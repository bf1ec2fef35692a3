-- 6 tests
create function pg_temp.lacks(p_kind text) returns text language sql as $$
  select coalesce(string_agg(m.option || '=' || m.declared, ',' order by m.option), 'nothing')
  from qwf.find_missing_options() m where m.kind = p_kind and m.task = 'mail'
$$;
select qwf.register_worker('box', 'cpu', '{"tasks": ["mail", "other"], "task_options":
  {"mail": {"max_attempts": "5", "max_losses": "1", "queue": "cpu", "expires": "1 day"}}}');
select qwf.register_pipeline('{"name": "p", "nodes": [{"id": "send", "node": "mail"}]}');
select qwf.register_workflow(
  '{"name": "w", "steps": [{"id": "s", "kind": "pipeline", "pipeline": "p"}]}');
select qwf.create_schedule('nightly', task => 'mail', cron => '@daily', queue => 'cpu');
select qwf.enqueue('mail', max_attempts => 2, max_losses => 3, queue => 'cpu', expires => '2 days'),
  qwf.enqueue('other');
select is(pg_temp.lacks('job'), 'nothing', 'a job that has them, with other values');
select qwf.enqueue('mail');
select is(pg_temp.lacks('job'), 'expires=1 day,max_attempts=5,max_losses=1,queue=cpu',
  'a job without them');
select is(pg_temp.lacks('schedule'), 'expires=1 day,max_attempts=5,max_losses=1',
  'a schedule has a queue, and can give nothing else');
select is(pg_temp.lacks('node'), 'max_attempts=5,max_losses=1',
  'a node cannot expire; its queue is cpu');
select is(m.name, 'w s/send', 'the node is named') from qwf.find_missing_options() m
where m.kind = 'node' and m.option = 'max_losses';
select qwf.register_pipeline(
  '{"name": "p", "nodes": [{"id": "send", "node": "mail",
    "retry": {"max_attempts": 3, "max_losses": 2}}]}');
select is(pg_temp.lacks('node'), 'nothing', 'the next version of the pipeline gives it');
