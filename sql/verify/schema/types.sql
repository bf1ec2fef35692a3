-- Verify qwf:schema/types

begin;

select null::qwf.job_status;
select null::qwf.run_status;
select null::qwf.claimed_job;
select null::qwf.lease_verdict;
select null::qwf.awaited;
select null::qwf.report_verdict;

rollback;
