-- Revert qwf:functions/_new_token

begin;

drop function qwf._new_token(bigint);

commit;
