-- Verify qwf:schema/types

begin;

select null::qwf.job_status;
select null::qwf.run_status;
select null::qwf.claimed_job;
select null::qwf.lease_verdict;
select null::qwf.awaited;
select null::qwf.report_verdict;
select null::qwf.problem;
select null::qwf.resolution;
select null::qwf.picked;
select null::qwf.floor;
select null::qwf.report;
select null::qwf.transition;
select null::qwf.new_job;
select null::qwf.held;
select null::qwf.ended;
select null::qwf.event;
select null::qwf.opened;
select null::qwf.node_count;

rollback;
