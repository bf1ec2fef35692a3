-- Revert qwf:functions/_resolved_inputs

begin;

drop function qwf._resolved_inputs(bigint, bigint, int);

commit;
