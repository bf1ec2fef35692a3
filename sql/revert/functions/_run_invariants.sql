-- Revert qwf:functions/_run_invariants

begin;

drop function qwf._run_invariants();

commit;
