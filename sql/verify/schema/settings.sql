-- Verify qwf:schema/settings

begin;

select singleton, lease, heartbeat, poll, tick, timeout, cancel_grace, stop_grace, worker_stale, max_losses, error_attempts, transient_attempts, error_backoff, transient_backoff, event_tries, max_value_bytes, max_error_bytes, max_log_bytes, retention from qwf.settings where false;

rollback;
