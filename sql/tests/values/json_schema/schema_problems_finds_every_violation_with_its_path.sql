select set_eq($$
  select p.path || ': ' || p.problem
  from _qwf.schema_problems(
    '{"name": 5, "age": -1, "tags": ["a", 3], "size": {"w": "x"}, "extra": 1, "colour": "blue"}',
    '{"type": "object", "required": ["name", "id"], "additionalProperties": false,
      "properties": {
        "name": {"type": "string"}, "id": {}, "age": {"minimum": 0},
        "tags": {"type": "array", "items": {"type": "string"}},
        "size": {"properties": {"w": {"type": "number"}}},
        "colour": {"enum": ["red", "green"]}}}', 'in') p
$$, array[
  'in.name: must be of type string, not number',
  'in.id: is missing',
  'in.age: must be at least 0',
  'in.tags[1]: must be of type string, not number',
  'in.size.w: must be of type number, not string',
  'in.extra: is not a property of the schema',
  'in.colour: must be one of ["red", "green"]'], 'all of them at once');
