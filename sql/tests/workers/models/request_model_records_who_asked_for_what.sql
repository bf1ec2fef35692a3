-- 2 tests
select qwf.register_worker('box', 'gpu', '{"models": ["flux"]}');
select qwf.request_model('box', 'gpu', 'flux', acting_for => 'ada');
select qwf.request_model('box', 'gpu', null, 'unload', 'ada');

select results_eq($$
  select host, queue, model, action, login, acting_for, taken_by from qwf.model_requests order by id
$$, $$ values
  ('box', 'gpu', 'flux', 'load', qwf_test.login(), 'ada', null::text),
  ('box', 'gpu', null, 'unload', qwf_test.login(), 'ada', null)
$$, 'for a worker to take up');

select results_eq($$
  select subject, login, acting_for, detail from qwf.audit where kind = 'worker_model' order by id
$$, $$ values
  ('box', qwf_test.login(), 'ada',
    jsonb '{"host":"box","queue":"gpu","action":"load","model":"flux"}'),
  ('box', qwf_test.login(), 'ada', '{"host":"box","queue":"gpu","action":"unload"}')
$$, 'and an event');
