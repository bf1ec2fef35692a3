-- 6 tests
select qwf.enqueue('a');
select qwf_test.claim('default');
create function pg_temp.say(real) returns text language sql as $$
  select qwf.progress(qwf_test.job('a'), qwf_test.token('a'), $1) $$;
select throws_ok('select pg_temp.say(1.01)', 'QW005', 'invalid progress', 'above one');
select throws_ok('select pg_temp.say(-0.1)', 'QW005', 'invalid progress',
  'below zero');
select throws_ok($$ select pg_temp.say('NaN') $$, 'QW005', 'invalid progress',
  'not a number');
select qwf_test.explains('select pg_temp.say(50)', '%50%', 'the error names the value');
select is(pg_temp.say(0), 'ok', 'nothing yet');
select is(pg_temp.say(1), 'ok', 'all done');
