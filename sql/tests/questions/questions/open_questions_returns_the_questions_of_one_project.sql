-- 7 tests
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "ask", "kind": "input", "widget": "confirm", "prompt": "Go?", "target": "ok"}]}');
select qwf.enqueue_run('w', project => 'p'), qwf.enqueue_run('w', project => 'q'),
  qwf.enqueue_run('w', project => 'p'), qwf.enqueue_run('w');
create function pg_temp.asked(p_project text, p_rows int default 100) returns text
language sql as $$
  select coalesce(string_agg((o.run_id - qwf_test.run() + 4)::text, ','), 'none')
  from qwf.open_questions(p_project, p_rows) o $$;
select is(pg_temp.asked('p'), '1,3', 'of the project, the oldest first');
select is(pg_temp.asked('p', 1), '1', 'no more than asked for');
select is(pg_temp.asked(''), '4', 'empty is a project like any other');
select is(pg_temp.asked('x'), 'none', 'of another project');
select is((select to_jsonb(o) - '{run_id,job_id}'::text[] from qwf.open_questions('q') o),
  jsonb_build_object('workflow', 'w', 'node_id', 'ask', 'question',
    qwf.run_status(qwf_test.run() - 2) #> '{nodes,0,question}'), 'each as run_status gives it');
select throws_ok('select * from qwf.open_questions(null)', 'QW005', 'no project named',
  'not of all projects at once');
select lives_ok(
  $$ select qwf_test.as_role('qwf_producer', 'select * from qwf.open_questions(''p'')') $$,
  'a producer may call it');
