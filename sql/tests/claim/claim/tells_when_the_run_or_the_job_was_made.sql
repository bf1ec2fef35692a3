-- 3 tests
select qwf_test.workflow('one', '[{"id": "a", "node": "render"}]');
select qwf_test.set_now('2030-01-01 12:00Z');
select qwf.enqueue_run('one');
select qwf.enqueue('mail');
update qwf.jobs set created_at = '2030-01-01 13:00Z' where task = 'render';
select qwf_test.set_now('2030-01-02 12:00Z');
select results_eq($$ select task, created_at from qwf.claim('cpu', 'w') $$,
  $$ values ('render', '2030-01-01 12:00Z'::timestamptz) $$, 'of a node: its run');
select results_eq($$ select task, created_at from qwf.claim('default', 'w') $$,
  $$ values ('mail', '2030-01-01 12:00Z'::timestamptz) $$, 'of a standalone job: itself');
select qwf.enqueue('mail');
select results_eq($$
  select verdict, task, created_at from qwf.finish_and_claim(
    (select jsonb_build_array(jsonb_build_object('job_id', id, 'token', token,
        'outcome', 'completed'))
      from qwf.jobs where task = 'render'),
    'default', 'w')
$$, $$
  values ('ok', null::text, null::timestamptz), (null, 'mail', '2030-01-02 12:00Z')
$$, 'with reports, too');
