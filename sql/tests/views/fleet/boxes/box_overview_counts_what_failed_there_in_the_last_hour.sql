insert into qwf.workers (id, host, queue) values
  ('a', 'box', 'cpu'), ('b', 'box', 'gpu'), ('c', 'other', 'cpu');
insert into qwf.jobs (queue, task, status, attempt, claimed_by, finished_at)
select 'cpu', 't', 'failed', 1, v.worker, qwf.now() - v.ago from (values
  ('a', interval '1 min'), ('b', interval '59 min'), ('b', interval '61 min'),
  ('x', interval '1 min')) v (worker, ago);
select results_eq($$ select host, failed from qwf.box_overview $$,
  $$ values ('box', 2), ('other', 0) $$, 'by the box of the last attempt');
