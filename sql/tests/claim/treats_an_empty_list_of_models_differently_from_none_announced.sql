begin;
select plan(2);

select qwf.enqueue('plain'), qwf.enqueue('flux', model => 'flux');
select results_eq($$
  select c.task
  from qwf.claim('default', qwf.register_worker('box', 'default', '{"models": []}'), 9) c
$$, array['plain'], 'one that knows none gets no job that needs one');
select results_eq($$
  select c.task from qwf.claim('default', qwf.register_worker('box', 'default'), 9) c
$$, array['flux'], 'one that says nothing loads what it needs');

select * from finish();
rollback;
