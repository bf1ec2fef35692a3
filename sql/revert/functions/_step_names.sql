-- Revert qwf:functions/_step_names

begin;

drop function qwf._step_names(jsonb, int, int[], jsonb, jsonb[], bit varying, jsonb);

commit;
