-- Revert qwf:functions/_repeated

begin;

drop function qwf._repeated(bigint, uuid, text);

commit;
