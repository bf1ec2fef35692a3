-- Revert qwf:functions/_reset_nodes

begin;

drop function qwf._reset_nodes(bigint[]);

commit;
