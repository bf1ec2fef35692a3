-- Verify qwf:views/job_details

begin;

select id, run_id, status, inputs, output, last_error, claimed_by from qwf.job_details where false;

rollback;
