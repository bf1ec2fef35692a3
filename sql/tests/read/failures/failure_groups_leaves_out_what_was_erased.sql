-- 2 tests
select qwf.enqueue('a'), qwf.enqueue('b');
select qwf_test.attempt('a', 'fatal', error => 'boom'),
  qwf_test.attempt('b', 'fatal', error => 'bang');
select is(array(select g.example from qwf.failure_groups() g order by 1), '{bang,boom}', 'both');
select count(*) from qwf.erase('{"status": "failed", "error": "boom"}');
select is(array(select g.example from qwf.failure_groups() g), '{bang}',
  'a job that was erased is no failure that somebody has to look at');
