-- Revert qwf:views/unassignable_jobs

begin;

drop view qwf.unassignable_jobs;

commit;
