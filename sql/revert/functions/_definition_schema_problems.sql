-- Revert qwf:functions/_definition_schema_problems

begin;

drop function qwf._definition_schema_problems(jsonb, text);

commit;
