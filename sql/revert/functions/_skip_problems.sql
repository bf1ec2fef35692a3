-- Revert qwf:functions/_skip_problems

begin;

drop function qwf._skip_problems(jsonb, text);

commit;
