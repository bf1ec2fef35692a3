begin;
select plan(6);

select throws_ok($$ select qwf.create_queue('q', lease => '0.5 s') $$, 'QW005', null,
  'a lease nobody can renew');
select throws_ok($$ select qwf.create_queue('q', timeout => '0 s') $$, 'QW005', null,
  'no time to run');
select throws_ok($$ select qwf.create_queue('q', timeout => '367 days') $$, 'QW005', null,
  'more than a year to run');
select throws_ok($$ select qwf.create_queue('q', retention => '-1 day') $$, 'QW005', null,
  'gone before it came');
select throws_ok($$ select qwf.create_queue('q', retention => '1001 years') $$, 'QW005', null,
  'what would be kept from before there were years');
select qwf_test.explains($$ select qwf.create_queue('q', lease => '0.5 s') $$, '%00:00:00.5%',
  'the error names it');

select * from finish();
rollback;
