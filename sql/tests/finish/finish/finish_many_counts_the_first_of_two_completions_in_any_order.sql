-- 2 tests
select qwf.enqueue('a', queue => 'cpu') from generate_series(1, 50);
select qwf_test.claim('cpu', 50);
create temp table reports as
  select jsonb_agg(jsonb_build_object(
    'job_id', j.id, 'token', j.token, 'outcome', 'completed',
    'output', jsonb_build_object('x', n)) order by n, hashint8(j.id)) as list
  from qwf.jobs j cross join generate_series(1, 2) n;
select results_eq($$
  select v.verdict, count(*) from reports r, qwf.finish_many(r.list) v group by 1 order by 1
$$, $$ values ('lost', 50::bigint), ('ok', 50) $$, 'one of two ended it');
select results_eq('select output, count(*) from qwf.jobs group by 1',
  $$ values ('{"x": 1}'::jsonb, 50::bigint) $$, 'the first');
