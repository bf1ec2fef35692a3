-- Verify qwf:views/pending_inputs

begin;

select run_id, workflow, node_id, job_id, project, widget, prompt, spec, since, age from qwf.pending_inputs where false;

rollback;
