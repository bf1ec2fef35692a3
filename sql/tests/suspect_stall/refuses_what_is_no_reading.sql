begin;
select plan(3);

select qwf.enqueue('a');
select qwf_test.claim('default');
create function pg_temp.say(jsonb) returns boolean language sql as $$
  select qwf.suspect_stall(qwf_test.job('a'), qwf_test.token('a'), $1) $$;
select throws_ok($$ select pg_temp.say('[]') $$, 'QW005', 'not readings', 'a list');
select throws_ok('select pg_temp.say(null)', 'QW005', 'not readings', 'nothing');
select throws_ok($$ select pg_temp.say(jsonb_build_object('a', repeat('x', 9000))) $$, 'QW005',
  'not readings', 'more than fits');

select * from finish();
rollback;
