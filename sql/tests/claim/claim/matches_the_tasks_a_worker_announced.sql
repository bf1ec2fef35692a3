-- 3 tests
select qwf.enqueue('mail'), qwf.enqueue('zip');
select is_empty($$
  select c.task
  from qwf.claim('default', qwf.register_worker('box', 'default', '{"tasks": []}'), 9) c
$$, 'one that announced none gets nothing');
select results_eq($$
  select c.task
  from qwf.claim('default', qwf.register_worker('box', 'default', '{"tasks": ["zip", "tar"]}'), 9) c
$$, $$ values ('zip') $$, 'one that announced some gets those');
select results_eq($$
  select c.task from qwf.claim('default', qwf.register_worker('box', 'default'), 9) c
$$, $$ values ('mail') $$, 'one that announced nothing is not filtered');
