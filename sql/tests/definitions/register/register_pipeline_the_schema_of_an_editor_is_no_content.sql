-- 3 tests
select is(qwf.register_pipeline('{"name": "d", "nodes": []}'), 1, 'without it');
select is(qwf.register_pipeline('{"$schema": "schema.json", "name": "d", "nodes": []}'), 1,
  'with it: the same version');
select is((select string_agg(d.definition::text, ',') from qwf.pipelines d),
  '{"name": "d", "nodes": []}', 'it is not stored');
