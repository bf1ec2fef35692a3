begin;
select plan(3);

select qwf.enqueue('a');
select qwf_test.claim('default');
create function pg_temp.say(jsonb) returns boolean language sql as $$
  select qwf.suspect_stall(qwf_test.job('a'), qwf_test.token('a'), $1) $$;
select throws_ok($$ select pg_temp.say('[]') $$, 'QW005', 'invalid readings', 'a list');
select throws_ok('select pg_temp.say(null)', 'QW005', 'invalid readings', 'null');
select throws_ok($$ select pg_temp.say(jsonb_build_object('a', repeat('x', 9000))) $$, 'QW005',
  'value too large', 'more than 8 KiB');

select * from finish();
rollback;
