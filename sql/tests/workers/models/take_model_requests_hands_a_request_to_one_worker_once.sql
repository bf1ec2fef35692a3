-- 3 tests
create temp table who as
  select qwf.register_worker('box', 'gpu', '{"models": ["flux"]}') as one,
    qwf.register_worker('box', 'gpu', '{"models": ["flux"]}') as two,
    qwf.register_worker('other', 'gpu', '{"models": ["flux"]}') as elsewhere;
select qwf.request_model('box', 'gpu', 'flux');

select is_empty($$ select r.* from who, qwf.take_model_requests(elsewhere) r $$, 'another host');
select results_eq($$ select r.action, r.model from who, qwf.take_model_requests(one) r $$,
  $$ values ('load', 'flux') $$, 'the first worker that asks');
select is_empty($$ select r.* from who, qwf.take_model_requests(two) r $$, 'it is taken');
