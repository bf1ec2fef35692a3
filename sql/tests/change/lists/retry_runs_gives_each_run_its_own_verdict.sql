-- 4 tests
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]}]');
create temp table made as
select row_number() over () as n, qwf.enqueue_run('w', key => nullif(k, 3)::text) as id
from generate_series(1, 3) k;
select qwf_test.claim('cpu', 2);
select qwf.finish(j.id, j.token, 'fatal') from qwf.jobs j where j.status = 'running';
create temp table again as select qwf.enqueue_run('w', key => '1') as id;
select results_eq(
  (select format('select run_id, verdict, code
    from qwf.retry_runs(''{900000000000,%s}'') order by run_id',
    string_agg(id::text, ',' order by id desc)) from made),
  (select format($$ values (%s::bigint, 'refused', 'QW008'), (%s, 'retried', null),
    (%s, 'refused', 'QW002'), (900000000000, 'refused', 'QW001') $$, min(id), min(id) + 1, max(id))
    from made),
  'one row each, and a refusal does not stop the others');
select is((select r.status::text from qwf.runs r where r.id = (select min(id) + 1 from made)),
  'queued', 'the one that could be retried goes on');
select results_eq(
  $$ select j.status::text from qwf.jobs j
    where j.run_id = (select min(id) from made) order by j.node_idx $$,
  array['failed', 'cancelled'], 'the refused one is as it was');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
