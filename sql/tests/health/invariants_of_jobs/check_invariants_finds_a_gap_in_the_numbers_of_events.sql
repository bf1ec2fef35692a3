-- 4 tests
insert into _qwf.event_log (kind) select 'lost' from generate_series(1, 4);
select _qwf.number_events();
select is_empty('select * from qwf.check_invariants()', 'numbers without a gap');
update _qwf.event_log set seq = null where seq = 2;
select results_eq('select subject, detail from qwf.check_invariants()',
  $$ values ('event 3', 'the one before it that is kept is 1') $$, 'a gap');
update _qwf.event_log set seq = 2 where seq is null;
update _qwf.event_log set seq = null where seq = 4;
select results_eq('select subject, detail from qwf.check_invariants()',
  $$ values ('event 3', '4') $$, 'the last one is not there');
update _qwf.event_log set seq = 4 where seq is null;
update _qwf.event_numbers set first_seq = 2;
select results_eq('select subject from qwf.check_invariants()', $$ values ('event 1') $$,
  'one that was to be deleted');
