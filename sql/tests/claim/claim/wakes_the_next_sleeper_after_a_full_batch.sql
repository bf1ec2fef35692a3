-- 2 tests
select qwf.enqueue('a'), qwf.enqueue('b'), qwf.enqueue('c');
select qwf.sleep('x', 'default'), qwf.sleep('y', 'default');
update qwf.sleepers set since = since - interval '10 ms';
select qwf_test.claim('default', 9);
select is(qwf_test.woken(), null, 'it took all there was');
select qwf_test.report('a', 'released'), qwf.wake('x'), qwf.wake('y');
select qwf.sleep('v', 'default'), qwf.sleep('w', 'default');
update qwf.sleepers set since = since - interval '10 ms';
select qwf_test.claim('default', 1);
select is(qwf_test.woken(), 'w',
  'there may be more jobs than it took: it wakes the freshest sleeper');
