-- Revert qwf:functions/_raise_problems

begin;

drop function qwf._raise_problems(text, text, qwf.problem[]);

commit;
