-- 2 tests
select qwf_test.set_now('2030-01-01');
select qwf_test.workflow('one', '[{"id": "a"}]');
select qwf.enqueue_run('one');
select results_eq($$ select status::text, started_at from qwf.runs $$, $$
  values ('queued', null::timestamptz) $$, 'before');
select qwf_test.claim();
select results_eq($$ select status::text, started_at from qwf.runs $$, $$
  values ('running', '2030-01-01'::timestamptz) $$,
  'after');
