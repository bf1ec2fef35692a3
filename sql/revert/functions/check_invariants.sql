-- Revert qwf:functions/check_invariants

begin;

drop function qwf.check_invariants();

commit;
