-- Revert qwf:functions/_resume_maps

begin;

drop function qwf._resume_maps(bigint[], text);

commit;
