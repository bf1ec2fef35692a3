-- 10 tests
select is(_qwf.option_advice('node', 'max_attempts', '5'),
  'give retry: {max_attempts: 5} in the node', 'a number in a node');
select is(_qwf.option_advice('node', 'model', 'a "b"'), 'give model: "a \"b\"" in the node',
  'a text');
select is(_qwf.option_advice('job', 'timeout', '30 seconds'),
  'give --timeout ''30 seconds'', or timeout => ''30 seconds'' in SQL', 'a job');
select is(_qwf.option_advice('job', 'requires', '{"a":"b"}'),
  'give --requires a=b, or requires => ''{"a":"b"}'' in SQL', 'an object');
select is(_qwf.option_advice('job', 'labels', '{"a":"b c"}'),
  'give --label ''a=b c'', or labels => ''{"a":"b c"}'' in SQL', 'labels');
select is(_qwf.option_advice('job', 'labels', 'x'), 'give --labels x, or labels => ''x'' in SQL',
  'what is no JSON');
select is(_qwf.option_advice('job', 'light', 'true'), 'give --light, or light => true in SQL',
  'a flag');
select is(_qwf.option_advice('schedule', 'queue', 'it''s'), 'give --queue ''it''"''"''s''',
  'a quote');
select is(_qwf.option_advice('schedule', 'expires', '1 day'),
  'give --options ''{"expires": "1 day"}''', 'by its options');
select is(_qwf.option_advice('schedule', 'max_attempts', '5'),
  'give --options ''{"max_attempts": 5}''',
  'by its options, as a number');
