-- Revert qwf:functions/_scope

begin;

drop function qwf._scope(bigint, int[], text[]);

commit;
