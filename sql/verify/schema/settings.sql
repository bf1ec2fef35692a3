-- Verify qwf:schema/settings

begin;

select singleton, lease, heartbeat, poll, tick, timeout, cancel_grace, stop_grace, worker_stale, affinity_max_wait, pack_patience, avoid_host, stall_timeout, stall_samples, idle_gpu_percent, idle_ram_bytes, gpu_health_window, model_load_grace, model_idle, metrics, metrics_keep, minutes_keep, recycle_jobs, max_losses, error_attempts, transient_attempts, error_backoff, transient_backoff, event_tries, max_value_bytes, max_elements, max_error_bytes, max_log_bytes, retention, notify_events from qwf.settings where false;

rollback;
