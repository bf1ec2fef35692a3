-- Revert qwf:functions/_expire_jobs

begin;

drop function qwf._expire_jobs();

commit;
