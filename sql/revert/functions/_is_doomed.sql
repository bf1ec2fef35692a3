-- Revert qwf:functions/_is_doomed

begin;

drop function qwf._is_doomed(bigint, text, bigint);

commit;
