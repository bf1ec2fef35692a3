-- 4 tests
select qwf.enqueue('a', queue => 'cpu');
create temp table worker as select qwf.register_worker('box', 'cpu') as id;
select qwf.worker_control('box', 'cpu', 'off', 'pause');
select is_empty($$ select c.* from worker, qwf.claim('cpu', worker.id) c $$, 'off');
select qwf.worker_control('box', 'cpu', 'on');
select is((select count(*) from worker, qwf.claim('cpu', worker.id) c), 1::bigint, 'on');
select qwf.enqueue('b', queue => 'cpu'), qwf.worker_control('other', 'cpu', 'off');
select is((select count(*) from worker, qwf.claim('cpu', worker.id) c), 1::bigint,
  'an order for another host does not count');
select qwf.enqueue('c', queue => 'cpu'), qwf.worker_control('psql', 'cpu', 'off');
select is(qwf_test.claim(), 'claimed c', 'one that did not register has no host');
