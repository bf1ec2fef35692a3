-- Revert qwf:schema/types

begin;

drop type qwf.node_count;
drop type qwf.opened;
drop type qwf.event;
drop type qwf.ended;
drop type qwf.held;
drop type qwf.new_job;
drop type qwf.transition;
drop type qwf.report;
drop type qwf.floor;
drop type qwf.picked;
drop type qwf.resolution;
drop type qwf.problem;
drop type qwf.report_verdict;
drop type qwf.awaited;
drop type qwf.lease_verdict;
drop type qwf.claimed_job;
drop type qwf.run_status;
drop type qwf.job_status;

commit;
