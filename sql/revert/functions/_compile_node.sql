-- Revert qwf:functions/_compile_node

begin;

drop function qwf._compile_node(jsonb, jsonb, jsonb, jsonb);

commit;
