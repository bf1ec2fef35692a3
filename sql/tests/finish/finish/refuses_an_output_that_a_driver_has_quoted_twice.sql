-- 8 tests
select qwf.enqueue('a'), qwf.enqueue('b');
select qwf_test.claim('default', 2);
select throws_ok($$
  select qwf.finish(qwf_test.job('a'), qwf_test.token('a'), 'completed', to_jsonb('{"x": 1}'::text))
$$, 'QW005', 'malformed report', 'the output is a string that holds an object');
select throws_ok($$
  select qwf.finish(qwf_test.job('a'), qwf_test.token('a'), 'completed', to_jsonb('null'::text))
$$, 'QW005', 'malformed report', 'so it is with no output at all');
select is(qwf_test.state('a'), 'running',
  'the job is still its worker''s, and the work is not lost');
select throws_ok($$
  select qwf.finish_many(jsonb_build_array(
    jsonb_build_object('job_id', qwf_test.job('b'), 'token', qwf_test.token('b'),
      'outcome', 'completed'),
    jsonb_build_object('job_id', qwf_test.job('a'), 'token', qwf_test.token('a'),
      'outcome', 'completed', 'output', '{"x": 1}'::text)))
$$, 'QW005', 'malformed report', 'a call with several reports writes none of them');
select qwf_test.hints($$
  select qwf.finish_many(jsonb_build_array(jsonb_build_object('job_id', 1)))
$$, '%send each in a call of its own%', 'the hint says how the others get through');
select throws_ok($$
  select qwf.finish_many(to_jsonb('[]'::text))
$$, 'QW005', 'malformed report', 'so it is with a list that was quoted twice');
select is(qwf.finish(qwf_test.job('b'), qwf_test.token('b'), 'completed'), 'ok',
  'sent alone, the other report counts');
select is(qwf.finish(qwf_test.job('a'), qwf_test.token('a'), 'completed', '{"x": 1}'), 'ok',
  'sent again as it should be, the output is stored');
