-- 2 tests
select qwf.enqueue('plain'), qwf.enqueue('flux', model => 'flux');
select results_eq($$
  select c.task
  from qwf.claim('default', qwf.register_worker('box', 'default', '{"models": []}'), 9) c
$$, array['plain'], 'a worker with an empty list gets no job that needs a model');
select results_eq($$
  select c.task from qwf.claim('default', qwf.register_worker('box', 'default'), 9) c
$$, array['flux'], 'a worker that announced no list gets one');
