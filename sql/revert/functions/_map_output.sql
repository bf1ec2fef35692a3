-- Revert qwf:functions/_map_output

begin;

drop function qwf._map_output(bigint);

commit;
