select qwf.enqueue('a'), qwf.enqueue('b');
select qwf_test.attempt('a', 'fatal', '{"half": 1}'),
  qwf_test.attempt('b', 'cancelled', '{"half": 1}');
select is_empty('select * from qwf.jobs where output is not null', 'half a result does not count');
