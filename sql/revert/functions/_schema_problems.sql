-- Revert qwf:functions/_schema_problems

begin;

drop function qwf._schema_problems(jsonb, jsonb, text);

commit;
