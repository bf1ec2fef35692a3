-- 8 tests
select qwf_test.edit('12:00:00', p_text => 'a');
select qwf_test.set_now('2026-01-01 12:00:05Z');
select _qwf.promote_due();
select is((select c.inputs ->> 'text' from qwf.claim('default', 'w') c), 'a', 'it runs');
select is(qwf_test.edit('12:00:06', p_text => 'b'), '2026-01-01 12:00:11Z', 'another one');
select qwf_test.set_now('2026-01-01 12:00:11Z');
select is(_qwf.promote_due(), 1, 'is due');
select is((select count(*) from qwf.claim('default', 'w')), 0::bigint, 'waits for the older one');
select is(qwf_test.edit('12:00:12', p_text => 'c'), '2026-01-01 12:00:17Z', 'and takes an edit');
select qwf_test.set_now('2026-01-01 12:00:17Z');
select is(_qwf.promote_due(), 1, 'is due again');
select qwf.finish(j.id, j.token, 'tempfail') from qwf.jobs j where j.status = 'running';
select is((select c.inputs ->> 'text' from qwf.claim('default', 'w') c), 'c',
  'a back-off of the older one does not hold it back');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
