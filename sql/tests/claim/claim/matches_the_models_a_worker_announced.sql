-- 2 tests
select qwf.enqueue('plain'), qwf.enqueue('flux', model => 'flux'),
  qwf.enqueue('sam', model => 'sam');
select results_eq($$
  select c.task, c.required_model
  from qwf.claim('default', qwf.register_worker('box', 'default', '{"models": ["sam"]}'), 9) c
$$, $$ values ('plain', null), ('sam', 'sam') $$, 'jobs without a model, and with a known one');
select results_eq($$
  select c.task from qwf.claim('default', qwf.register_worker('box', 'default'), 9) c
$$, $$ values ('flux') $$, 'one that announced nothing is not filtered');
