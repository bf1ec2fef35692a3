-- Verify qwf:views/job_details

begin;

select id, run_id, graph_id, node_idx, node_id, queue, task, status, project, priority, run_next,
  position, run_at, inputs, resolved_inputs, output, input_spec, guarded, remaining_deps, attempt,
  failures, losses, retries, max_attempts, max_losses, backoff, timeout, stall_timeout,
  required_model, light, vram_mb, requires, limit_by, on_failure, run_if, expires_at, avoid_host,
  avoid_until, parent_id, element, elements, failed_elements, claimed_by, claimed_at,
  lease_expires_at, progress, progress_message, beat_at, last_error, last_exit_code, origin, key,
  key_state, once, labels, created_at, queued_at, started_at, finished_at from qwf.job_details where false;

rollback;
