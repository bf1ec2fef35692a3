-- Revert qwf:functions/_cancel_waiting

begin;

drop function qwf._cancel_waiting(bigint, text);

commit;
