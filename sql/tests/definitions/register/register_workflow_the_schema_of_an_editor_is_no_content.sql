-- 3 tests
select is(qwf.register_workflow('{"name": "d", "steps": []}'), 1, 'without it');
select is(qwf.register_workflow('{"$schema": "schema.json", "name": "d", "steps": []}'), 1,
  'with it: the same version');
select is((select string_agg(d.definition::text, ',') from qwf.workflows d),
  '{"name": "d", "steps": []}', 'it is not stored');
