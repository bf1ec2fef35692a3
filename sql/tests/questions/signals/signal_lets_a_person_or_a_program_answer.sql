-- 9 tests
create function pg_temp.ask() returns bigint language sql as $$
  select qwf_test.question('confirm', '{"signal": "paid", "prompt": "Has it been paid?"}') $$;
select pg_temp.ask();
select results_eq('select asks, widget, signal from qwf.pending_inputs', $$
  values ('input', 'confirm', 'paid') $$, 'a person is asked');
select set_eq($$ select qwf.why_not(qwf_test.job('ask')) $$,
  array['it waits for a person to answer: Has it been paid?', 'it waits for the signal paid'],
  'both are told');
select is(qwf.signal('paid', 'true'), 1, 'the program is first');
select throws_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', 'true') $$, 'QW002', null,
  'the person is late');
select results_eq('select login, detail ->> ''signal'' from qwf.event_overview
  where kind = ''question_answered''', $$ values (qwf_test.login(), 'paid') $$, 'it says who');
select pg_temp.ask();
select is(qwf_test.run_state(), 'completed', 'a kept signal is first, too');
select qwf.signal('paid', '"no boolean"'), pg_temp.ask();
select is(qwf_test.run_state(), 'completed', 'and one that fits, behind one that does not');
delete from qwf.signals where payload = 'true';
select pg_temp.ask();
select lives_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', 'false') $$,
  'the person is first');
select is_empty('select * from qwf.waits', 'nothing waits any more');
