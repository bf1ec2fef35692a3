-- 9 tests
create function pg_temp.question(p_key text) returns jsonb language sql as $$
  select qwf.run_status(qwf_test.run()) #> array['nodes', '0', 'question', p_key]
$$;
select qwf_test.set_now('2030-01-01 12:00 Z');
select qwf_test.question('choose_one', '{"prompt": "Which?", "options": ["red", "blue"],
  "target": "colour", "expires": "1 hour", "show": "/a.png"}');
select is(qwf.run_status(qwf_test.run()) #> '{nodes,0,question}', '{"widget": "choose_one",
  "prompt": "Which?", "options": ["red", "blue"], "target": "colour", "expires": "01:00:00",
  "show": "/a.png", "since": "2030-01-01T12:00:00.000+00:00",
  "expires_at": "2030-01-01T13:00:00.000+00:00"}', 'the keys of the step, and when');
set local timezone = 'Asia/Tokyo';
select is(pg_temp.question('since'), '"2030-01-01T12:00:00.000+00:00"', 'the same everywhere');
select qwf.answer_job(qwf_test.job('ask'), '"blue"',
  asked => (pg_temp.question('since') #>> '{}')::timestamptz);
select is(qwf.run_status(qwf_test.run()) #> '{nodes,0,question}', null,
  'which names the question in an answer; none once it is answered');
select qwf_test.question('choose_one', '{"prompt": "Which?", "source": ["left", "right"]}');
select is(pg_temp.question('options'), '["left", "right"]', 'options of "source"');
select is(pg_temp.question('expires_at'), 'null', 'it waits forever');
select qwf_test.question('confirm', '{"prompt": "Go?", "source": ["left", "right"]}');
select is(pg_temp.question('options'), 'null', 'this widget has no options');
select qwf_test.workflow('risky', '[{"id": "a", "on_failure": "ask"}]');
select qwf.enqueue_run('risky');
select qwf_test.attempt('s/a', 'error', error => 'broken');
select is(pg_temp.question('options'), '["retry", "skip", "abort"]', 'of a failure');
select is(pg_temp.question('error'), null, 'the error stands beside it');
select is(qwf.run_status(qwf_test.run()) #>> '{nodes,0,error}', 'broken', 'as that of the node');
