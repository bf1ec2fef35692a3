select is(
  qwf.resolve('{"x": [{"y": {"$from": "a"}}, [{"$from": "b"}]], "z": 1}', '{"a": 1, "b": [2]}'),
  '{"x": [{"y": 1}, [[2]]], "z": 1}',
  'each reference is replaced in its place');
