-- Verify qwf:views/job_timeline

begin;

select job_id, run_id, name, at, attempt, what, by, waited, took, detail from qwf.job_timeline
  where false;

rollback;
