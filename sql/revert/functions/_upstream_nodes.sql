-- Revert qwf:functions/_upstream_nodes

begin;

drop function qwf._upstream_nodes(jsonb, text);

commit;
