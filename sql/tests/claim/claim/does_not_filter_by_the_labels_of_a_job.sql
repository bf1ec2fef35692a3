select qwf.enqueue('tagged', labels => '{"colour": "red"}');
select is((select labels from qwf.claim('default', qwf.register_worker('box', 'default'))),
  '{"colour": "red"}',
  'labels of a job are tags: handed on, not matched');
