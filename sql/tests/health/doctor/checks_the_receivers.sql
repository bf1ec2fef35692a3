-- 8 tests
-- A receiver that nobody has, one that is down, one that lost a message, a rule that raises.
create function pg_temp.finds() returns setof text language sql as $$
  select d.level || ': ' || d.says || coalesce(' -> ' || d.hint, '')
  from qwf.doctor(array['alerts']) d $$;
select qwf_test.set_now('2030-01-01');
select alike(pg_temp.finds(), 'fine: %', 'all is well');
select qwf.set_alert('bad', '{"when": ["overdue"], "do": {"receiver": "ops"}}');
select qwf.test_alert('bad');
select is(pg_temp.finds(), 'problem: no live agent has receiver ops; 1 message waits -> '
  'add [receiver.ops] to qwf.toml of an agent of queue qwf.alerts', 'nobody has it');
create function pg_temp.try(p_state text) returns void language sql as $$
  select qwf.finish(c.job_id, c.token, p_state, null, 'receiver ops: refused')
  from qwf.register_worker('box', 'qwf.alerts', '{"slots": 1,
    "labels": {"receiver.ops": "true"}}') w, qwf.claim('qwf.alerts', w, 1) c $$;
select pg_temp.try('tempfail');
select alike(pg_temp.finds(), 'fine: %', 'one try has failed, and the next comes soon');
select qwf_test.travel('2 h'), qwf.register_worker('box', 'qwf.alerts',
  '{"slots": 1, "labels": {"receiver.ops": "true"}}');
select is(pg_temp.finds(), 'problem: 1 message for receiver ops has waited for another try '
  'for 2 h 00 min: receiver ops: refused -> see on its box whether it works: qwf receivers '
  '--check ops; then send now: qwf change ' || qwf_test.job('qwf.send') || ' --next',
  'it is down for long');
select qwf.change_job(qwf_test.job('qwf.send'), run_next => true);
select pg_temp.try('tempfail');
select is((select attempt from qwf.jobs), 2, 'a person has it tried at once');
select qwf_test.travel('2 h'), qwf.register_worker('box', 'qwf.alerts',
  '{"slots": 1, "labels": {"receiver.ops": "true"}}');
select qwf.tick();
select pg_temp.try('fatal');
select is(pg_temp.finds(), 'problem: 1 message for receiver ops was not delivered: receiver ops: '
  'refused -> correct it, and deliver them: qwf retry job --failed --task qwf.send', 'given up');
delete from qwf.jobs;
update qwf.alerts set last_error = 'queue gone', last_error_at = qwf.now();
select is(pg_temp.finds(), 'problem: rule bad cannot be applied: queue gone -> '
  'correct it: qwf alert set bad RULE', 'a rule that raises');

update qwf.alerts set last_error_at = null;
select qwf.set_alert('odd', '{"when": ["overdue"], "do": {"receiver": "zoe"}}');
select qwf.test_alert('odd');
insert into _qwf.event_log (at, kind, subject, names, detail)
select qwf.now(), 'run_ended', 'w', jsonb_build_object('notify', 'r' || n), '{"status": "failed"}'
from generate_series(1, 9) n;
select qwf.tick();
select results_eq($$ select split_part(d.says, ';', 1) from qwf.doctor(array['alerts']) d $$, array[
  'no live agent has receiver zoe', 'no live agent has receiver r1',
  'no live agent has receiver r2', 'no live agent has receiver r3',
  'no live agent has receiver r4', 'and 5 more of that kind'],
  'the first five that nobody has, those of administrators first');
