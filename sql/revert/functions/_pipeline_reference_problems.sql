-- Revert qwf:functions/_pipeline_reference_problems

begin;

drop function qwf._pipeline_reference_problems(jsonb);

commit;
