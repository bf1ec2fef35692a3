-- 5 tests
insert into _qwf.event_log (kind) select 'lost' from generate_series(1, 5);
select _qwf.number_events();
select is(_qwf.number_events(), 0, 'the same server goes on');
update _qwf.event_numbers set timeline = '00000000';
insert into _qwf.event_log (kind) values ('fired');
select is(_qwf.number_events(), 1, 'another timeline: a standby has taken over');
select results_eq('select seq, kind from qwf.events where seq > 5 order by seq',
  $$ values (1000005::bigint, 'events_restarted'), (1000006, 'fired') $$,
  'numbers go on a million later');
select qwf.begin_generation();
select results_eq($$ select seq, detail ->> 'reason', (detail ->> 'last_kept')::bigint
    from qwf.events where kind = 'events_restarted' order by seq $$, $$
  values (1000005::bigint, 'failover', 5::bigint), (2000006, 'restored', 1000006) $$,
  'both say which numbers are kept');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
