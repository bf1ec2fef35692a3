-- 4 tests
-- Nothing in a detail is worth the report: texts are cut, other values of the wrong kind left out.
select qwf.enqueue('done'), qwf.enqueue('lost', max_attempts => 1);
select qwf_test.attempt('done', detail => jsonb_build_object(
  'host', repeat('h', 2000), 'reason', repeat('r', 2000000), 'files', (
    select jsonb_agg(jsonb_build_object('rel_path', 'f' || i, 'kind', repeat('k', 200)))
    from generate_series(1, 10001) i)));
select is(qwf_test.state('done'), 'completed', 'the job is completed');
select results_eq($$ select max(length(reason)) from qwf.attempt_overview $$, 'values (1000)',
  'the reason is cut');
select results_eq($$
  select count(*)::int, max(length(kind)), max(length(host)) from qwf.run_files
$$, 'values (10000, 100, 500)', 'so are the texts of files, and 10000 files are kept');
select qwf_test.attempt('lost', 'lost', detail => jsonb_build_object(
  'signal', jsonb_build_array(repeat('s', 100000)), 'reason', repeat('r', 2000),
  'readings', (repeat('[', 600) || repeat(']', 600))::jsonb));
select results_eq($$
  select length(detail ->> 'reason'), detail ?| '{signal,readings}'
  from _qwf.event_log where job_id = qwf_test.job('lost') and kind = 'lost'
$$, 'values (1000, false)', 'and the event of a loss is small');
