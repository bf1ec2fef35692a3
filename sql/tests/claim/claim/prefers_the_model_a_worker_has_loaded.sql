-- 4 tests
create temp table worker as select qwf_test.worker('{"current_model": "sam"}') as id;
select qwf.enqueue('plain', queue => 'gpu', priority => 1),
  qwf.enqueue('flux', queue => 'gpu', model => 'flux'),
  qwf.enqueue('sam', queue => 'gpu', model => 'sam'),
  qwf.enqueue('sooner', queue => 'gpu', model => 'sam', priority => 50),
  qwf.enqueue('next', queue => 'gpu', priority => 900);
select qwf.change_job(qwf_test.job('next'), run_next => true);
select is(qwf_test.gets(id, 4), 'next, sooner, sam, plain',
  'run_next before all, then its model by priority, then the others') from worker;
select is(qwf_test.gets(id), 'flux', 'then other models') from worker;
select qwf_test.beat(id) from worker;
select qwf.enqueue('a', queue => 'gpu'), qwf.enqueue('b', queue => 'gpu', model => 'sam');
select is(qwf_test.gets(id, 2), 'a, b', 'once it has unloaded it, in order') from worker;
select is_empty('select * from qwf.check_invariants()', 'no invariant is broken');
