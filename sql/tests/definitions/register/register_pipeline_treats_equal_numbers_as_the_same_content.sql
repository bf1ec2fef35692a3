-- 2 tests
select is(qwf.register_pipeline('{"name": "p", "nodes": [{"id": "a", "timeout": 10}]}'), 1, 'once');
select is(qwf.register_pipeline('{"name": "p", "nodes": [{"id": "a", "timeout": 10.0}]}'), 1,
  'twice');
