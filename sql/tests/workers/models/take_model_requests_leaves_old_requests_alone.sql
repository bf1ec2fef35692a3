create temp table who as
  select qwf.register_worker('box', 'gpu', '{"models": ["flux"]}') as one;
select qwf.request_model('box', 'gpu', 'flux');
update qwf.model_requests set requested_at = qwf.now() - interval '6 min';

select is_empty($$ select r.* from who, qwf.take_model_requests(one) r $$,
  'too old to be handed out');
