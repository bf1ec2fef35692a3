-- 2 tests
select qwf_test.set_now('2030-01-01');
select qwf.enqueue('a');
select is((select created_at from qwf.jobs), '2030-01-01',
  'the engine writes the time of that clock');
select qwf_test.travel('1 h');
select is(qwf.now(), '2030-01-01 01:00', 'tests can move it');
