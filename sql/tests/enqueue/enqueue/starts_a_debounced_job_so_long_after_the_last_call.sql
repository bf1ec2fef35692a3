-- 7 tests
select is(qwf_test.edit('12:00:00'), '2026-01-01 12:00:05Z', 'a new job');
select is(qwf_test.edit('12:00:03', p_text => 'b'), '2026-01-01 12:00:08Z',
  'each call starts anew');
select is(qwf_test.edit('12:00:04', '2 s', p_text => 'c'), '2026-01-01 12:00:06Z',
  'the last call says how long');
select results_eq('select status::text, inputs ->> $$text$$ from qwf.jobs',
  $$ values ('scheduled', 'c') $$, 'one job, with the last text');
select qwf_test.set_now('2026-01-01 12:00:05.9Z');
select is(_qwf.promote_due(), 0, 'not before its time');
select qwf_test.set_now('2026-01-01 12:00:06Z');
select is(_qwf.promote_due(), 1, 'it is due');
select is((select c.inputs ->> 'text' from qwf.claim('default', 'w') c), 'c', 'it starts');
