-- 4 tests
select qwf_test.workflow('w', '[{"id": "a"}]');
create temp table made as
select row_number() over () as n, qwf.enqueue_run('w') as id from generate_series(1, 3);
select qwf_test.claim('cpu', 1);
select qwf.finish(j.id, j.token, 'completed') from qwf.jobs j where j.status = 'running';
select qwf.cancel_run((select id from made where n = 2));
select results_eq(
  (select format('select run_id, verdict, code
    from qwf.cancel_runs(''{%s,900000000000,%s}'', ''late'')
    order by run_id', string_agg(id::text, ',' order by id desc), max(id)) from made),
  (select format($$ values (%s::bigint, 'refused', 'QW002'), (%s, 'unchanged', null),
    (%s, 'cancelled', null), (900000000000, 'refused', 'QW001') $$, min(id), min(id) + 1, max(id))
    from made),
  'one row each, once, and a refusal does not stop the others');
select is((select detail || ' / ' || hint from qwf.cancel_runs(array[(select min(id) from made)])),
  (select format('run %s is completed / there is nothing left to cancel', min(id)) from made),
  'a refusal says what to do');
select matches((select error from qwf.runs order by id desc limit 1), ': late$',
  'the reason stands in the run');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
