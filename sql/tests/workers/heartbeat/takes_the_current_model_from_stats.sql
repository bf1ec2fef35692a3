-- 6 tests
create temp table me as select qwf.register_worker('box', 'gpu', '{"current_model": "sam"}') as id;
select is_empty($$ select * from qwf.heartbeat((select id from me), stats => '{}') $$,
  'stats that do not mention it');
select is((select current_model from qwf.workers), 'sam', 'change nothing');
select is_empty($$ select *
from qwf.heartbeat((select id from me), stats => '{"current_model": "flux"}') $$, 'another');
select is((select current_model from qwf.workers), 'flux', 'is taken');
select is_empty($$ select *
from qwf.heartbeat((select id from me), stats => '{"current_model": null}') $$, 'none');
select is((select current_model from qwf.workers), null, 'is taken too');
