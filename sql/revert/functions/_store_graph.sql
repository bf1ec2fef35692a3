-- Revert qwf:functions/_store_graph

begin;

drop function qwf._store_graph(bigint, bigint[], jsonb);

commit;
