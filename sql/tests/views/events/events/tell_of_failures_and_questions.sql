-- 6 tests
create function pg_temp.happened(p_kinds text) returns setof jsonb language sql as $$
  select jsonb_build_object('kind', e.kind) || e.detail - 'answer_id'
  from _qwf.event_log e where e.kind ~ p_kinds order by e.id $$;

select qwf_test.set_now('2030-01-01');
select qwf.enqueue('a', args => '{"secret": 1}');
select qwf_test.attempt('a', 'fatal', error => E'boom\nmore',
  detail => '{"reason": "timeout"}');
select results_eq('select pg_temp.happened(''.'')', $$ values
  ('{"kind": "job_failed", "error": "boom", "reason": "timeout", "attempt": 1}'::jsonb) $$,
  'a job that failed for good');
delete from _qwf.event_log;
select qwf.enqueue('b'), qwf_test.attempt('b');
select is_empty('select pg_temp.happened(''.'')', 'a job that completes writes nothing');

select qwf.enqueue('c', on_failure => 'ask');
select qwf_test.attempt('c', 'fatal', error => 'boom');
select qwf.answer_job(qwf_test.job('c'), '"abort"');
select results_eq('select pg_temp.happened(''.'') - ''prompt''', $$ values
  ('{"kind": "question_asked"}'::jsonb), ('{"kind": "question_answered", "job": "aborted"}'),
  ('{"kind": "job_failed", "error": "boom", "attempt": 1}') $$, 'one that asks what to do');

select qwf_test.workflow('w', '[{"id": "a"}]');
delete from _qwf.event_log;
select qwf.enqueue_run('w'), qwf_test.attempt('s/a', 'fatal');
select results_eq('select pg_temp.happened(''.'') ->> ''kind''', array['run_ended'],
  'of a node that fails, the end of its run tells');

select qwf.register_workflow('{"name": "q", "steps": [{"id": "ask", "kind": "input",
  "widget": "confirm", "prompt": "Go on?", "expires": "1 h", "default": true}]}');
delete from _qwf.event_log;
select qwf.enqueue_run('q');
select results_eq('select pg_temp.happened(''.'')', $$ values ('{"kind": "question_asked",
  "prompt": "Go on?", "expires_at": "2030-01-01T01:00:00+00:00"}'::jsonb) $$, 'a question');
select qwf_test.travel('1 h'), qwf.tick();
select results_eq('select pg_temp.happened(''answer|expire|end'') ->> ''kind''',
  array['expired', 'question_answered', 'run_ended'], 'its default is an answer, too');
