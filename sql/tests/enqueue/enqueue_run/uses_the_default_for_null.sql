select qwf_test.workflow('one', '[{"id": "a"}]');
select qwf.enqueue_run('one', priority => null, project => null, labels => null, once => null);
select results_eq('select priority, project, labels, once, context, run_at from qwf.runs', $$
  values (100, '', '{}'::jsonb, false, '{}'::jsonb, null::timestamptz) $$, 'where there is one');
