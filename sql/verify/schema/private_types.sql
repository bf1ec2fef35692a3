-- Verify qwf:schema/private_types

begin;

select null::_qwf.problem;
select null::_qwf.resolution;
select null::_qwf.claim_terms;
select null::_qwf.picked;
select null::_qwf.permit;
select null::_qwf.band;
select null::_qwf.floor;
select null::_qwf.report;
select null::_qwf.transition;
select null::_qwf.new_job;
select null::_qwf.held;
select null::_qwf.ended;
select null::_qwf.event;
select null::_qwf.opened;
select null::_qwf.node_count;
select null::_qwf.queue_head;
select null::_qwf.queued_count;
select null::_qwf.job_filter;
select null::_qwf.run_filter;
select null::_qwf.found;
select null::_qwf.given_options;

rollback;
