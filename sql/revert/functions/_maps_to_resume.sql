-- Revert qwf:functions/_maps_to_resume

begin;

drop function qwf._maps_to_resume(bigint[], text);

commit;
