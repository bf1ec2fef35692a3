-- 2 tests
select qwf.create_queue('mail', keep_completed => false);
select qwf.enqueue(t, queue => 'mail') from unnest('{a,b}'::text[]) t;
select qwf_test.claim('mail', 2);
select results_eq($$
  select v.verdict from qwf.finish_many(jsonb_build_array(
    jsonb_build_object('job_id', qwf_test.job('a'), 'token', qwf_test.token('a'),
      'outcome', 'completed', 'detail', '{"files": []}'::jsonb),
    jsonb_build_object('job_id', qwf_test.job('b'), 'token', qwf_test.token('b'),
      'outcome', 'completed', 'detail', '{"files": null, "exit_code": 0}'::jsonb))) v
$$, array['ok', 'ok'], 'both ended');
select is_empty('select id from qwf.jobs', 'no row');
