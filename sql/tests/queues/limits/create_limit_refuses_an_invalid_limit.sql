-- 7 tests
select throws_ok($$ select qwf.create_limit('api', 0) $$, 'QW005');
select throws_ok($$ select qwf.create_limit('api', 10001) $$, 'QW005');
select throws_ok($$ select qwf.create_limit('api', null) $$, 'QW005');
select throws_ok($$ select qwf.create_limit('', 1) $$, 'QW005');
select throws_ok($$ select qwf.create_limit('two words', 1) $$, 'QW005');
select qwf_test.explains($$ select qwf.create_limit('queue:cpu', 1) $$, 'name ''queue:cpu''%',
  'the limit of a queue is set with create_queue');
select qwf_test.explains($$ select qwf.enqueue('t', limit_by => 'apo') $$, '%''apo''%',
  'nothing is enqueued under an unknown limit');
