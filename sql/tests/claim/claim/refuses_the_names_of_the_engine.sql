-- 15 tests
select throws_ok(format('select %s', v.call), v.code,
  case v.code when 'QW007' then 'names that begin with qwf. belong to the engine' end, v.call)
from (values
  ('qwf.claim(''qwf.runs'', ''me'')', 'QW007'),
  ('qwf.claim(''cpu'', ''qwf.engine'')', 'QW007'),
  ('qwf.finish_and_claim(''[]'', ''qwf.runs'', ''me'')', 'QW007'),
  ('qwf.register_worker(''box'', ''qwf.runs'')', 'QW007'),
  ('qwf.deregister_worker(''qwf.engine'')', 'QW007'),
  ('qwf.heartbeat(''qwf.engine'')', 'QW007'),
  ('qwf.sleep(''qwf.engine'', ''cpu'')', 'QW007'),
  ('qwf.sleep(''me'', ''qwf.runs'')', 'QW007'),
  ('qwf.withdraw_worker(''qwf.engine'', ''x'')', 'QW007'),
  ('qwf.enqueue(''t'', queue => ''qwf.runs'')', 'QW007'),
  ('qwf.enqueue_many(''[{"task": "t", "queue": "qwf.runs"}]'')', 'QW007'),
  ('qwf.create_queue(''qwf.other'')', 'QW007'),
  ('qwf.request_model(''box'', ''qwf.runs'', ''m'')', 'QW007')) v (call, code);
select throws_ok($$ select qwf.enqueue('qwf.run:w') $$, 'QW007', null, 'a task, too');
set local qwf.serving = '1';
select throws_ok($$ select qwf.claim('qwf.runs', 'me') $$, 'QW007', null,
  'no setting opens the door');
