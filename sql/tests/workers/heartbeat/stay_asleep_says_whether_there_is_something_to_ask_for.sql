-- 7 tests
create temp table who as select qwf.register_worker('box', 'gpu', '{"models": ["flux"]}') as one;
create function pg_temp.ordered() returns boolean language sql as
  'select s.ordered from who, qwf.stay_asleep(one, ''gpu'') s';

select is(pg_temp.ordered(), false, 'no order and no request');
select qwf.worker_control('box', 'cpu', 'off'), qwf.worker_control('other', 'gpu', 'off');
select is(pg_temp.ordered(), false, 'an order for others');
select qwf.worker_control('box', 'gpu', 'off', until => qwf.now() + interval '5 s');
select is(pg_temp.ordered(), true, 'it should be off');
select qwf_test.travel('6 s');
select is(pg_temp.ordered(), false, 'for a while');
select qwf.request_model('box', 'gpu', 'flux');
select is(pg_temp.ordered(), true, 'a request for a model');
select r.* from who, qwf.take_model_requests(one) r;
select is(pg_temp.ordered(), false, 'once it has been told');
select results_eq('select registered, ordered from qwf.stay_asleep(''nobody'', ''gpu'')',
  'values (false, null::boolean)', 'an unknown worker');
