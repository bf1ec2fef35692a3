-- Revert qwf:functions/_pipeline_problems

begin;

drop function qwf._pipeline_problems(jsonb);

commit;
