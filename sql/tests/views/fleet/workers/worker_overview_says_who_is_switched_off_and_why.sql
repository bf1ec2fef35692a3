-- 3 tests
select qwf_test.set_now('2026-01-01 12:00Z');
select qwf.register_worker('box', 'gpu', '{"rank": -1}'), qwf.register_worker('other', 'gpu');
select qwf.worker_control('box', 'gpu', 'off', 'drain', 'ann', 'hot', '2026-01-01 13:00Z');
select results_eq($$ select host, rank, state, reason, until from qwf.worker_overview $$, $$ values
  ('box', -1, 'off', 'hot', '2026-01-01 13:00Z'::timestamptz), ('other', 0, 'idle', null, null)
$$, 'off');
select qwf.enqueue('a', queue => 'gpu');
update qwf.jobs j set status = 'running', claimed_by = f.worker
from qwf.worker_overview f where f.host = 'box';
select results_eq($$ select host, state from qwf.worker_overview $$,
  $$ values ('box', 'draining'), ('other', 'idle') $$, 'it still holds a job');
update qwf.jobs set status = 'completed', claimed_by = null;
select qwf_test.set_now('2026-01-01 13:00Z');
update qwf.workers set last_seen = qwf.now();
select results_eq($$ select host, state, reason from qwf.worker_overview $$,
  $$ values ('box', 'idle', null), ('other', 'idle', null) $$, 'and on by itself');
