create temp table worker as select qwf.register_worker('box', 'cpu') as id;
select qwf.enqueue('a', queue => 'cpu');
select from worker, qwf.claim('cpu', worker.id);
select qwf.deregister_worker(id), qwf.deregister_worker(id) from worker;
select results_eq($$ select kind, subject, login, detail from qwf.audit $$, $$
  select 'worker_stopped', 'box', qwf_test.login(), jsonb_build_object('worker', id, 'host', 'box',
    'queue', 'cpu', 'released', 1) from worker $$, 'once, with how many jobs it gave back');
