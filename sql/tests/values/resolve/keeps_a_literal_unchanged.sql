select is(qwf.resolve('{"a": {"$value": {"$from": "x", "b": [{"$eq": 1}]}}}', '{"x": 1}'),
  '{"a": {"$from": "x", "b": [{"$eq": 1}]}}', 'nothing under $value is resolved');
