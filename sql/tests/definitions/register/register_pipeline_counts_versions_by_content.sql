-- 5 tests
select is(qwf.register_pipeline('{"name": "p", "nodes": [{"id": "a"}]}'), 1, 'the first');
select is(qwf.register_pipeline('{"nodes": [{"id": "b"}], "name": "p"}'), 2, 'different content');
select is(qwf.register_pipeline('{"nodes": [{"id": "a"}], "name": "p"}'), 1, 'the first again');
select results_eq('select version, current from qwf.pipelines order by version',
  $$ values (1, true), (2, false) $$, 'the last one registered is current');
select is(qwf.register_pipeline('{"name": "q", "nodes": [{"id": "a"}]}'), 1,
  'each name has its own versions');
