-- Verify qwf:views/pending_inputs

begin;

select run_id, workflow, node_id, task, job_id, project, asks, widget, prompt, age, expires_at,
  since, spec, show from qwf.pending_inputs where false;

rollback;
