-- Revert qwf:functions/_cancel_reason

begin;

drop function qwf._cancel_reason(bigint);

commit;
