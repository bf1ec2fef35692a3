-- 2 tests
select qwf.sleep('a', 'default'), qwf.sleep('b', 'default'), qwf.sleep('c', 'default'),
  qwf.sleep('d', 'cpu');
update qwf.sleepers set since = since - interval '10 ms';
select qwf.enqueue('later', run_at => qwf.now() + '1 h');
select is(qwf_test.woken(), null, 'nothing to do yet');
select count(*) from qwf.enqueue_many('[{"task": "x"}, {"task": "y"}]');
select is(qwf_test.woken(), 'b, c', 'two jobs, two workers of that queue, the freshest');
