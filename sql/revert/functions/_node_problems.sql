-- Revert qwf:functions/_node_problems

begin;

drop function qwf._node_problems(jsonb, text);

commit;
