-- Revert qwf:functions/_workflow_problems

begin;

drop function qwf._workflow_problems(jsonb, jsonb);

commit;
