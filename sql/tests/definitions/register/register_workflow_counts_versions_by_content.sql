-- 5 tests
select is(qwf.register_workflow('{"name": "w", "steps": []}'), 1, 'the first');
select is(qwf.register_workflow('{"name": "w", "steps": [], "mode": "node"}'), 2,
  'different content');
select is(qwf.register_workflow('{"steps": [], "name": "w"}'), 1, 'the first again');
select results_eq('select version, current from qwf.workflows order by version',
  $$ values (1, true), (2, false) $$, 'the last one registered is current');
select is((select count(*)::int from qwf.graphs), 2, 'each content is compiled once');
