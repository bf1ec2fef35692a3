-- Revert qwf:functions/_job_invariants

begin;

drop function qwf._job_invariants();

commit;
