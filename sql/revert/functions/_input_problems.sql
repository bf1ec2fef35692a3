-- Revert qwf:functions/_input_problems

begin;

drop function qwf._input_problems(jsonb, text);

commit;
