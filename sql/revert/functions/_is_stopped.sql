-- Revert qwf:functions/_is_stopped

begin;

drop function qwf._is_stopped(bigint, bigint, text, bigint);

commit;
