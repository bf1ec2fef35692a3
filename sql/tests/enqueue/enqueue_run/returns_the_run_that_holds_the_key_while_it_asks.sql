select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "ask", "kind": "input", "widget": "confirm"}]}');
create temp table made as select qwf.enqueue_run('w', key => 'k') as id;
select results_eq($$ select qwf.enqueue_run('w', key => 'k') $$, 'select id from made',
  'waiting is not over');
