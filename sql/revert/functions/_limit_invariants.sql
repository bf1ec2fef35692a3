-- Revert qwf:functions/_limit_invariants

begin;

drop function qwf._limit_invariants();

commit;
