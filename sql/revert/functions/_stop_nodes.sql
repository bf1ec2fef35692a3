-- Revert qwf:functions/_stop_nodes

begin;

drop function qwf._stop_nodes(bigint[]);

commit;
