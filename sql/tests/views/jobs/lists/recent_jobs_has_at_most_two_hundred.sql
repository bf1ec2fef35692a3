-- 2 tests
select count(*)
from qwf.enqueue_many((select jsonb_agg('{"task": "a"}'::jsonb) from generate_series(1, 201)));
select is((select count(*) from qwf.recent_jobs), 200::bigint, 'it is a glance, not a report');
select is((select max(id) from qwf.recent_jobs), (select max(id) from qwf.jobs), 'of the newest');
