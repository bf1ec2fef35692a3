-- Revert qwf:schema/private_types

begin;

drop type _qwf.given_options;
drop type _qwf.found;
drop type _qwf.run_filter;
drop type _qwf.job_filter;
drop type _qwf.queued_count;
drop type _qwf.queue_head;
drop type _qwf.opened;
drop type _qwf.node_count;
drop type _qwf.event;
drop type _qwf.ended;
drop type _qwf.held;
drop type _qwf.job_key;
drop type _qwf.new_job;
drop type _qwf.transition;
drop type _qwf.report;
drop type _qwf.floor;
drop type _qwf.band;
drop type _qwf.permit;
drop type _qwf.picked;
drop type _qwf.claim_terms;
drop type _qwf.resolution;
drop type _qwf.problem;

commit;
