-- Revert qwf:functions/_keyword_problems

begin;

drop function qwf._keyword_problems(jsonb);

commit;
