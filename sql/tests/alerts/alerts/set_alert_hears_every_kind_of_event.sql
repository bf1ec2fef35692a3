-- 6 tests
-- What is late reaches people, and what ends it says so; no kind of event is forgotten.
create function pg_temp.sent() returns setof text language sql as $$
  select concat_ws(' ', m.state, m.subject) from qwf.alert_messages m
  where m.created_at = qwf.now() order by m.created_at, m.id $$;
create function pg_temp.happens(p_kind text, p_subject text) returns void language sql as $$
  insert into _qwf.event_log (at, kind, subject) values (qwf.now(), p_kind, p_subject);
  select qwf.tick() $$;

select qwf_test.set_now('2030-01-01');
select set_eq($$
  select k[1]
  from pg_constraint c
  cross join lateral regexp_matches(pg_get_constraintdef(c.oid), '''([a-z_]+)''', 'g') k
  where c.conrelid = '_qwf.event_log'::regclass and c.contype = 'c'
    and pg_get_constraintdef(c.oid) like '%run_ended%'
    and k[1] not in (select kind from _qwf.alert_kinds())
    and k[1] not in (select unnest(ends) from _qwf.alert_kinds()) $$,
  array['cancel_requested', 'changed', 'fired', 'worker_model', 'worker_server'],
  'what no rule can name: the acts of people that are always meant');
select qwf.set_alert('late', '{"when": ["schedule_late", "worker_dead", "run_late"],
  "calm": "0", "do": {"receiver": "ops"}}');
select pg_temp.happens('worker_dead', 'box');
select results_eq('select pg_temp.sent()', array['open box'], 'a box is gone');
select qwf_test.travel('2 h'), qwf.tick();
select is_empty('select pg_temp.sent()', 'it stays open however long nothing more happens');
select pg_temp.happens('worker_back', 'box');
select results_eq('select pg_temp.sent()', array['resolved box'], 'and is back');
select qwf_test.travel('1 min'), pg_temp.happens('schedule_late', 'nightly');
select results_eq('select pg_temp.sent()', array['open nightly'], 'a night is late');
select qwf_test.travel('1 h'), pg_temp.happens('schedule_ok', 'nightly');
select results_eq('select pg_temp.sent()', array['resolved nightly'], 'and was made up for');
