select qwf_test.set_now('2026-01-01 12:00Z');
insert into qwf.workers (id, host, queue, last_seen, stopped_at) values
  ('w', 'box', 'gpu', qwf.now(), null), ('s', 'box', 'gpu', qwf.now(), qwf.now());
insert into qwf.model_requests (host, queue, model, action, requested_at, taken_by,
  answered_at, error)
select 'box', 'gpu', 'flux', 'load', qwf.now() - v.ago, v.worker, v.answered_at, v.error
from (values
  (interval '4 min', null, null::timestamptz, null), ('6 min', null, null, null),
  ('6 min', 'w', null, null), ('6 min', 's', null, null), ('6 min', 'w', qwf.now(), null),
  ('6 min', 's', qwf.now(), 'too big')) v (ago, worker, answered_at, error);
select results_eq($$ select state from qwf.model_request_overview $$,
  $$ values ('failed'), ('done'), ('abandoned'), ('under way'), ('expired'), ('waiting') $$,
  'the newest first');
