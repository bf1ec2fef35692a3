-- Revert qwf:functions/_is_able

begin;

drop function qwf._is_able(qwf.jobs, qwf.workers);

commit;
