-- 6 tests
select is(_qwf.act_for('ada'), '', 'it returns what was said before: nothing');
select is(_qwf.acting_for(), 'ada', 'and says the name');
select is(_qwf.act_for(null), 'ada', 'null changes nothing');
savepoint refused;
select throws_ok($$ select _qwf.act_for(repeat('x', 256)) $$, 'QW005', 'invalid name',
  'a name that is too long is refused');
select set_config('qwf.acting_for', '', true), qwf_test.question('confirm');
select throws_ok(format($$ select qwf.submit_input(%s, 'ask', '5', acting_for => 'bob') $$,
  qwf_test.run()), 'QW005');
select is(_qwf.acting_for(), null, 'a call that is refused leaves no name');
