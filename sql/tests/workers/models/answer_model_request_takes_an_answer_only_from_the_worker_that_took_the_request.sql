-- 2 tests
create temp table who as
  select qwf.register_worker('box', 'gpu', '{"models": ["flux"]}') as one;
select qwf.request_model('box', 'gpu', 'flux');
create temp table taken as select r.id from who, qwf.take_model_requests(one) r;

select qwf.answer_model_request(id, 'ghost') from taken;
select is((select answered_at from qwf.model_requests), null, 'not of another');
select qwf.answer_model_request(id, one, 'no memory') from taken, who;
select is((select error from qwf.model_requests where answered_at is not null), 'no memory',
  'its own');
