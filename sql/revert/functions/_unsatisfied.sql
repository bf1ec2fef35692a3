-- Revert qwf:functions/_unsatisfied

begin;

drop function qwf._unsatisfied();

commit;
