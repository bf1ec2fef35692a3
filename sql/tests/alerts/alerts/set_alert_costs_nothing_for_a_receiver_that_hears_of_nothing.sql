-- 8 tests
-- Producers have named 2,000 receivers: other events look at none of them, the lists of people are
-- as before, and two days later they are gone. A question that was answered is not open.
create function pg_temp.happens(p_receiver text, p_times int) returns void language sql as $$
  insert into _qwf.event_log (at, kind, subject, names, detail)
  select qwf.now(), 'run_ended', 'w', jsonb_strip_nulls(jsonb_build_object('workflow', 'w',
    'notify', p_receiver || n)), '{"status": "cancelled"}' from generate_series(1, p_times) n $$;
create function pg_temp.looked() returns bigint language sql as $$
  select pg_stat_get_xact_tuples_fetched('qwf.alerts'::regclass)
    + pg_stat_get_xact_tuples_returned('qwf.alerts'::regclass) $$;
select qwf_test.set_now('2030-01-01');
select pg_temp.happens('r', 2000), _qwf.number_and_match();
select is((select count(distinct receiver) from qwf.alert_messages), 2000::bigint, 'all are told');
select qwf_test.travel('1 s'), _qwf.number_and_match();
select qwf.set_alert('z', '{"when": ["lost"], "do": {"receiver": "ops"}}');
select pg_temp.happens(null, 100), pg_temp.happens('r', 1);
create temp table before as select pg_temp.looked() as rows;
select count(*) from _qwf.number_and_match();
select cmp_ok(pg_temp.looked() - rows, '<', 100::bigint, 'it looks at a few rules') from before;
select is((select count(*) from qwf.alert_messages), 2001::bigint, 'who hears of it is told');
select results_eq('select receiver, rules from qwf.receiver_overview',
  $$ values ('ops', '{z}'::text[]) $$, 'the list of receivers is short');
select qwf_test.travel('1 s'), _qwf.number_and_match();
select qwf_test.travel('2 days 1 s'), qwf.prune(max_rows => 5000);
select results_eq('select name from qwf.alerts', array['z'], 'the others are forgotten');
select is((select count(*) from qwf.alert_messages), 2001::bigint, 'not what they were told');

select qwf.register_workflow('{"name": "q", "steps": [
  {"id": "ask", "kind": "input", "widget": "confirm", "prompt": "Go on?"},
  {"id": "more", "node": "more", "queue": "default", "depends_on": ["ask"]}]}');
select qwf.enqueue_run('q', notify => 'ada');
select qwf.tick(), qwf.submit_input(qwf_test.run(), 'ask', 'true'), qwf.tick();
select results_eq('select rule, kind, messages, closed_at is not null from qwf.alert_details
  order by id desc limit 1', $$ values ('qwf.notify.ada', 'question_asked', 1, true) $$,
  'a question that is answered is over');
select is_empty('select * from qwf.check_invariants()', 'invariants');
