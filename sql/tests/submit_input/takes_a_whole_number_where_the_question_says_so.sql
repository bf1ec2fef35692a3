begin;
select plan(2);

select qwf_test.question('number', '{"integer": true}');
select throws_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', '1.5') $$, 'QW005', null,
  'half of one');
select lives_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', '2') $$, 'two');

select * from finish();
rollback;
