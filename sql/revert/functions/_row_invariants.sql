-- Revert qwf:functions/_row_invariants

begin;

drop function qwf._row_invariants();

commit;
