-- 5 tests
create function pg_temp.names(p_job bigint, p_schedule text, p_workflow text) returns text
language sql as $$
  select coalesce(string_agg(m.kind || ' ' || m.name, ','), 'nothing')
  from qwf.find_missing_options(p_job, p_schedule, p_workflow) m
$$;
select qwf.register_worker('box', 'cpu',
  '{"tasks": ["t"], "task_options": {"t": {"max_attempts": "5"}}}');
select qwf.register_pipeline('{"name": "p", "nodes": [{"id": "t"}]}');
select qwf.register_workflow(
  '{"name": "w", "steps": [{"id": "s", "kind": "pipeline", "pipeline": "p"}]}');
select qwf.create_schedule('off', task => 't', cron => '@daily', enabled => false);
create temp table job as select qwf.enqueue('t') as id;
select is(pg_temp.names(j.id, null, null), 'job ' || j.id, 'a job') from job j;
select is(pg_temp.names(null, 'off', null), 'schedule off', 'a schedule, even if it is disabled');
select is(pg_temp.names(null, null, 'w'), 'node w s/t', 'a workflow');
select is(pg_temp.names(0, 'none', 'none'), 'nothing', 'what does not exist lacks nothing');
select qwf.cancel_job(j.id) from job j;
select is(pg_temp.names(null, null, null), 'node w s/t',
  'without a name: no job that has ended, no disabled schedule');
