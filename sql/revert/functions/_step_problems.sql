-- Revert qwf:functions/_step_problems

begin;

drop function qwf._step_problems(jsonb, text);

commit;
