-- Revert qwf:functions/_settle_maps

begin;

drop function qwf._settle_maps(bigint[]);

commit;
