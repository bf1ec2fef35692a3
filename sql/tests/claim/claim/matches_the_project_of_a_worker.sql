-- 3 tests
select qwf.enqueue('none'), qwf.enqueue('red', project => 'red'),
  qwf.enqueue('blue', project => 'blue');
select results_eq($$
  select c.task, c.project
  from qwf.claim('default', qwf.register_worker('box', 'default', '{"project": "red"}'), 9) c
$$, $$ values ('red', 'red') $$, 'its own project');
select results_eq($$
  select c.task
  from qwf.claim('default', qwf.register_worker('box', 'default', '{"project": ""}'), 9) c
$$, $$ values ('none') $$, 'the empty project is one like any other');
select results_eq($$
  select c.task from qwf.claim('default', qwf.register_worker('box', 'default'), 9) c
$$, $$ values ('blue') $$, 'a worker without a project works for all');
