begin;
select plan(2);

select qwf_test.question('json');
select lives_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', '{"a": [1, null]}') $$,
  'whatever it is');
select is((select output from qwf.jobs), '{"answer": {"a": [1, null]}}', 'as given');

select * from finish();
rollback;
