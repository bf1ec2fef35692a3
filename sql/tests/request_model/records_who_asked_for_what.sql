begin;
select plan(1);

select qwf.register_worker('box', 'gpu', '{"models": ["flux"]}');
select qwf.request_model('box', 'gpu', 'flux', by => 'ada');
select qwf.request_model('box', 'gpu', null, 'unload', 'ada');

select results_eq($$
  select host, queue, model, action, requested_by, taken_by from qwf.model_requests order by id
$$, $$ values
  ('box', 'gpu', 'flux', 'load', 'ada', null::text), ('box', 'gpu', null, 'unload', 'ada', null)
$$, 'for a worker to take up');

select * from finish();
rollback;
