-- 3 tests
select qwf.enqueue('a', queue => 'gpu', model => 'flux'), qwf.enqueue('b', queue => 'cpu');
create temp table worker as select qwf.register_worker('box', 'gpu') as id;
select qwf.register_worker('near', 'gpu', '{"models": ["flux"]}'),
  qwf.register_worker('off', 'gpu'), qwf.register_worker('small', 'gpu', '{"models": ["phi"]}'),
  qwf.register_worker('tasks', 'gpu', '{"tasks": ["b"]}'), qwf.register_worker('box', 'gpu'),
  qwf.register_worker('project', 'gpu', '{"project": "p"}');
select qwf.worker_control('off', 'gpu', 'off');
select count(*) from qwf.claim('gpu', (select id from worker));
select results_eq($$ select task, name, queue, host, takers from qwf.running_jobs $$,
  $$ values ('a', 'a', 'gpu', 'box', '{near}'::text[]) $$, 'only running ones');
select qwf.claim('cpu', 'nobody');
select is((select host from qwf.running_jobs where task = 'b'), null, 'a worker that is unknown');
select is((select takers from qwf.running_jobs where task = 'b'), '{}', 'nobody serves it');
