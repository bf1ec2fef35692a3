-- Revert qwf:functions/_map_verdict

begin;

drop function qwf._map_verdict(bigint);

commit;
