-- 6 tests
select qwf.enqueue('a'), qwf.enqueue('b');
select qwf_test.claim('default', 1);
select is(qwf.finish(qwf_test.job('a'), null, 'completed'), 'lost', 'no token');
select is(qwf.finish(qwf_test.job('a'), gen_random_uuid(), 'completed'), 'lost', 'an invented one');
select is(qwf.finish(qwf_test.job('b'), qwf_test.token('a'), 'completed'), 'lost',
  'one of another job');
select is(qwf.finish(qwf_test.job('b'), null, 'completed'), 'lost',
  'none for a job that does not run');
select is(qwf.finish(987654321, qwf_test.token('a'), 'completed'), 'lost',
  'a job that does not exist');
select results_eq('select status::text from qwf.jobs order by id', array['running', 'queued'],
  'nothing is changed');
