-- 2 tests
select qwf.enqueue('a');
select qwf_test.attempt('a', output => '{"n": 1}',
  detail => jsonb_build_object('files', jsonb_build_array(
  jsonb_build_object('rel_path',
    (select string_agg(md5(n::text), '/') from generate_series(1, 400) n)))));
select results_eq('select status::text, output from qwf.jobs', $$
  values ('completed', '{"n": 1}'::jsonb) $$,
  'no file name loses the report');
select ok((select length(rel_path) from qwf.run_files) >= 4096,
  'as much of it as any host accepts');
