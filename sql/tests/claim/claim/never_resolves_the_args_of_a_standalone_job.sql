select qwf.enqueue('mail', '{"x": {"$from": "a.b"}}');
select is((select inputs from qwf.claim('default', 'w')), '{"x": {"$from": "a.b"}}',
  'args are data');
