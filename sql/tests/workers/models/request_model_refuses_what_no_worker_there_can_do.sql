-- 5 tests
select qwf.register_worker('box', 'gpu', '{"models": ["flux"]}');

select throws_ok($$ select qwf.request_model('box', 'gpu', 'sdxl') $$, 'QW002',
  'no worker there has this model', 'the worker does not know it');
select throws_ok($$ select qwf.request_model('other', 'gpu', 'flux') $$, 'QW002',
  'no worker there has this model', 'no worker on that host');
select throws_ok($$ select qwf.request_model('box', 'gpu', 'flux', 'melt') $$, 'QW005',
  'invalid request', 'not an action');
select throws_ok($$ select qwf.request_model('box', 'gpu', null) $$, 'QW005',
  'invalid request', 'load what?');
select throws_ok($$ select qwf.request_model('box', 'tpu', 'flux') $$, 'QW006', 'unknown queue',
  'no such queue');
