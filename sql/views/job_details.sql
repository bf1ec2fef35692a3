-- Deploy qwf:views/job_details
-- requires: schema/jobs
-- Purpose: All there is to know about a job but the token of whoever runs it, so that a viewer can
--   ask for every column.

begin;

create view qwf.job_details as
select
  j.id, j.run_id, j.graph_id, j.node_idx, j.node_id, j.queue, j.task, j.status, j.project,
  j.priority, j.run_next, j.position, j.run_at, j.inputs, j.resolved_inputs, j.output,
  j.input_spec, j.guarded, j.remaining_deps, j.attempt, j.failures, j.losses, j.retries,
  j.max_attempts, j.max_losses, j.backoff, j.timeout, j.stall_timeout, j.required_model,
  j.light, j.vram_mb, j.requires, j.limit_by, j.on_failure, j.run_if, j.expires_at,
  j.avoid_host, j.avoid_until, j.parent_id, j.element, j.elements, j.failed_elements,
  j.claimed_by, j.claimed_at, j.lease_expires_at, j.progress, j.progress_message, j.beat_at,
  j.last_error, j.last_exit_code, j.origin, j.key, j.once, j.labels, j.created_at, j.queued_at,
  j.started_at, j.finished_at
from qwf.jobs j;
comment on view qwf.job_details is
  'Every column of qwf.jobs but the token: select * from qwf.job_details where id = 7.';

do $$
declare
  v_comment text;
begin
  for v_comment in
    select format('comment on column qwf.job_details.%I is %L', a.attname,
      col_description(a.attrelid, a.attnum))
    from pg_catalog.pg_attribute a
    where a.attrelid = 'qwf.jobs'::regclass and a.attnum > 0 and a.attname <> 'token'
  loop
    execute v_comment;
  end loop;
end $$;

commit;
