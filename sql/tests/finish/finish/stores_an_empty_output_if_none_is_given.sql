-- 2 tests
select qwf.enqueue('a'), qwf.enqueue('b'), qwf.enqueue('c');
select qwf_test.attempt('a', output => null), qwf_test.attempt('b', output => 'null');
select qwf_test.claim('default');
select is(qwf.finish(qwf_test.job('c'), qwf_test.token('c'), 'completed'), 'ok', 'no output given');
select results_eq('select output from qwf.jobs order by id', array['{}', '{}', '{}']::jsonb[],
  'null is {}');
