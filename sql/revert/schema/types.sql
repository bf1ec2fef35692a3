-- Revert qwf:schema/types

begin;

drop type qwf.missing_option;
drop type qwf.started;
drop type qwf.run_verdict;
drop type qwf.job_verdict;
drop type qwf.failure_group;
drop type qwf.found_run;
drop type qwf.found_job;
drop type qwf.job_count;
drop type qwf.verdict_or_job;
drop type qwf.report_verdict;
drop type qwf.awaited;
drop type qwf.lease_verdict;
drop type qwf.enqueued;
drop type qwf.claimed_job;
drop type qwf.run_status;
drop type qwf.job_status;

commit;
