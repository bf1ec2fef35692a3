-- Verify qwf:schema/workers

begin;

select id, host, queue, pid, version, slots, tasks, models, current_model, vram_mb, labels, rank, project, out_root, servers, task_options, follows_orders, stats, started_at, last_seen, stopped_at from qwf.workers where false;
select host_label, queue, desired_state, stop_policy, requested_by, reason, until, server, parallel, server_idle, created_at, updated_at from qwf.worker_controls where false;
select worker, queue, since from qwf.sleepers where false;

rollback;
