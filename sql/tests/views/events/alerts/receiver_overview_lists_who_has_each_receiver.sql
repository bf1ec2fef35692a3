-- 4 tests
-- A receiver is there if a live agent of qwf.alerts has it, or a rule names it.
select qwf_test.set_now('2030-01-01');
select qwf.register_worker('box-b', 'qwf.alerts', '{"slots": 1, "labels": {
  "receiver.ops": "true", "receiver.ada": "true"}}');
select qwf.register_worker('box-a', 'qwf.alerts', '{"slots": 1, "labels": {
  "receiver.ops": "true", "gpu": "yes"}}');
select qwf.register_worker('box-c', 'default', '{"slots": 1, "labels": {"receiver.no": "true"}}');
select qwf.set_alert('bad', '{"when": ["run_ended"], "do": {"receiver": "gone"}}');
select qwf.set_alert('night', '{"when": ["overdue"], "do": {"receiver": "ops"}}');
select qwf.set_alert('own', '{"when": ["overdue"], "do": {"task": "page"}}');
select qwf.test_alert('night');
select results_eq('select receiver, hosts, rules from qwf.receiver_overview order by 1', $$
  values ('ada', '{box-b}'::text[], '{}'::text[]), ('gone', '{}', '{bad}'),
    ('ops', '{box-a,box-b}', '{night}') $$, 'by name, with those that have it');
select results_eq($$ select receiver from qwf.receiver_overview where sent_at = qwf.now() $$,
  array['ops'], 'when it was told last');
select qwf.deregister_worker(w.id) from qwf.workers w where w.host = 'box-b';
select results_eq('select receiver, hosts from qwf.receiver_overview order by 1', $$
  values ('gone', '{}'::text[]), ('ops', '{box-a}') $$, 'an agent that has stopped has none');
set local role qwf_viewer;
select is((select count(*) from qwf.receiver_overview), 2::bigint, 'a viewer may look');
