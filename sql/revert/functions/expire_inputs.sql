-- Revert qwf:functions/expire_inputs

begin;

drop function qwf.expire_inputs(int);

commit;
