-- Verify qwf:schema/types

begin;

select null::qwf.job_status;
select null::qwf.run_status;
select null::qwf.claimed_job;
select null::qwf.enqueued;
select null::qwf.lease_verdict;
select null::qwf.awaited;
select null::qwf.report_verdict;
select null::qwf.verdict_or_job;
select null::qwf.job_count;
select null::qwf.found_job;
select null::qwf.found_run;
select null::qwf.failure_group;
select null::qwf.job_verdict;
select null::qwf.run_verdict;
select null::qwf.missing_option;
select null::qwf.started;

rollback;
