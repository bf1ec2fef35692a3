-- Revert qwf:functions/_event_kind

begin;

drop function qwf._event_kind(qwf.job_status);

commit;
