-- Revert qwf:functions/_insert_nodes

begin;

drop function qwf._insert_nodes(bigint, timestamptz);

commit;
