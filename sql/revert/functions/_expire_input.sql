-- Revert qwf:functions/_expire_input

begin;

drop function qwf._expire_input(bigint, timestamptz);

commit;
