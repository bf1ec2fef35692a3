-- Revert qwf:functions/_context_problems

begin;

drop function qwf._context_problems(bigint, jsonb);

commit;
