-- 5 tests
create temp table worker as
  select qwf.register_worker('box', 'cpu', '{"tasks": ["old"], "models": ["flux"]}') as id;
select qwf.enqueue('new', queue => 'cpu');
select is_empty($$ select j.job_id from worker w, qwf.claim('cpu', w.id) j $$,
  'it has no such task');
select qwf.update_worker(w.id, '{"tasks": ["old", "new"]}') from worker w;
select results_eq($$ select w.tasks, w.models from qwf.workers w $$,
  $$ values ('{old,new}'::text[], '{flux}'::text[]) $$, 'a key that info lacks stays');
select results_eq($$ select j.task from worker w, qwf.claim('cpu', w.id) j $$,
  $$ values ('new') $$, 'now it has');
select qwf.update_worker(w.id, '{"models": null}') from worker w;
select is(w.models, null::text[], 'null: not filtered') from qwf.workers w;
select is(w.claimed, 1, 'it keeps the job it holds')
from (select count(*)::int as claimed from qwf.jobs j join worker w on j.claimed_by = w.id) w;
