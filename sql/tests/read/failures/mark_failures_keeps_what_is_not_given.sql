-- 9 tests
create function pg_temp.fail(p_task text, p_error text) returns void language sql as $$
  select qwf.finish(c.job_id, c.token, 'fatal', error => p_error)
  from (select qwf.enqueue(p_task, queue => 'cpu')) e
  cross join lateral (select * from qwf.register_worker('box', 'cpu') w (id)) w
  cross join lateral qwf.claim('cpu', w.id, 1) c
$$;
create function pg_temp.shown() returns text language sql as $$
  select string_agg(format('%s %s', task, state), ', ') from qwf.failure_groups()
$$;
select pg_temp.fail('paint', 'no colour 7');
select pg_temp.fail('draw', 'no paper');
select is(pg_temp.shown(), 'draw new, paint new', 'nobody has said anything');

select qwf.mark_failures('draw', 'no paper', seen => true);
select is(pg_temp.shown(), 'paint new, draw seen', 'what was seen comes after what is new');
select qwf.mark_failures('draw', 'no paper', note => ' the tray is empty ');
select is((select row(g.state, g.note, g.marked_by)::text from qwf.failure_groups() g
  where g.task = 'draw'), format('(seen,"the tray is empty",%s)', session_user),
  'a note takes nothing back');
select qwf.mark_failures('paint', 'no colour #', snooze => '1 h');
select is(pg_temp.shown(), 'draw seen, paint snoozed', 'what is snoozed comes last');
select qwf_test.travel('2 h');
select is(pg_temp.shown(), 'paint new, draw seen', 'for as long as was said');
select pg_temp.fail('draw', 'no paper');
select is((select state from qwf.failure_groups() where task = 'draw'), 'again',
  'a failure after it was seen');

select qwf.mark_failures('paint', 'no colour #', until_release => true);
select qwf_test.travel('300 days');
select is((select state from qwf.failure_groups() where task = 'paint'), 'snoozed',
  'until a release, however long');
select qwf.register_workflow('{"name": "w", "steps": [{"id": "a", "node": "a", "queue": "cpu"}]}');
update qwf.workflows set registered_at = qwf.now();
select is((select state from qwf.failure_groups() where task = 'paint'), 'new',
  'which is a new version of a workflow or pipeline');

select qwf.mark_failures('paint', 'no colour #', snooze => '0 s');
select qwf.mark_failures('draw', 'no paper', seen => false, note => '');
select is_empty('select * from qwf.failure_marks', 'a mark that says nothing is gone');
