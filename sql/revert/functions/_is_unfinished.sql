-- Revert qwf:functions/_is_unfinished

begin;

drop function qwf._is_unfinished(bigint, bigint);

commit;
