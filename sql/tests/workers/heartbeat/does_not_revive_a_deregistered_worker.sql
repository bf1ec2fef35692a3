-- A late heartbeat over another connection must not revive the worker.
select qwf_test.set_now('2026-01-01 12:00');
insert into qwf.workers (id, host, queue, stopped_at, last_seen)
values ('w', 'box', 'cpu', '2026-01-01 11:00', '2026-01-01 11:00');
select qwf.heartbeat('w');
select is((select row(stopped_at, last_seen) from qwf.workers),
  row('2026-01-01 11:00'::timestamptz, '2026-01-01 11:00'::timestamptz), 'it stays stopped');
