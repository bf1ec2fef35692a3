-- 7 tests
select qwf_test.edit('12:00:00');
select qwf_test.set_now('2026-01-01 12:00:05Z');
select is(_qwf.promote_due(), 1, 'its time has come, and nobody takes it');
select is(qwf_test.edit('12:00:09'), '2026-01-01 12:00:14Z', 'another call');
select results_eq('select status::text, position is null, queued_at is null from qwf.jobs',
  $$ values ('scheduled', true, true) $$, 'it waits again');
select is((select count(*) from qwf.claim('default', 'w')), 0::bigint, 'it cannot start');
select qwf_test.set_now('2026-01-01 12:00:14Z');
select is(_qwf.promote_due(), 1, 'its time has come again');
select is((select count(*) from qwf.claim('default', 'w')), 1::bigint, 'it starts');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
