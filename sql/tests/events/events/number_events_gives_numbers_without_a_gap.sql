-- 9 tests
create function pg_temp.happens(kind text, times int default 1) returns void language sql as $$
  insert into _qwf.event_log (at, kind, subject)
  select qwf.now(), kind, 'x' from generate_series(1, times) $$;
create function pg_temp.lasts() returns bigint language sql as $$
  select n.last_seq from _qwf.event_numbers n $$;

select qwf_test.set_now('2030-01-01');
select is(_qwf.number_events(), 0, 'nothing happened');
select pg_temp.happens('lost', 150);
select is(_qwf.number_events(), 99, 'whoever numbers them all says that nothing is left');
select results_eq('select count(*), min(seq), max(seq) from qwf.events',
  $$ values (150::bigint, 1::bigint, 150::bigint) $$, 'from 1 on');
select pg_temp.happens('fired', 7000);
select is(_qwf.number_events(), 1000, 'it stops at its bound, and says so');
select is(pg_temp.lasts(), 5150::bigint, 'at 5,000 events');
select is(_qwf.number_events(), 99, 'the next one gives the rest');
select is_empty('select seq from qwf.events where seq > 1
  except select seq + 1 from qwf.events', 'each follows the one before');
select pg_temp.happens('tripped', 5000);
select is((qwf.tick() -> 'next_due_s')::numeric, 0.0, 'a tick that leaves some is due at once');
select is((qwf.tick() -> 'numbered')::int, 0, 'it left none');
