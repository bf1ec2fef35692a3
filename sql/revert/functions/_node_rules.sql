-- Revert qwf:functions/_node_rules

begin;

drop function qwf._node_rules(jsonb);

commit;
