-- 7 tests
select throws_ok($$ select qwf.create_queue('q', lease => '0.5 s') $$, 'QW005', null,
  'a lease too short to renew');
select throws_ok($$ select qwf.create_queue('q', timeout => '0 s') $$, 'QW005', null,
  'a timeout of 0');
select throws_ok($$ select qwf.create_queue('q', timeout => '367 days') $$, 'QW005', null,
  'a timeout of more than 366 days');
select throws_ok($$ select qwf.create_queue('q', retention => '-1 day') $$, 'QW005', null,
  'a negative retention');
select throws_ok($$ select qwf.create_queue('q', retention => '1001 years') $$, 'QW005', null,
  'more than 1000 years');
select throws_ok($$ select qwf.create_queue('q', on_failure => 'continue') $$, 'QW005', null,
  'on_failure continue, which is for nodes');
select qwf_test.explains($$ select qwf.create_queue('q', lease => '0.5 s') $$, '%00:00:00.5%',
  'the error names it');
