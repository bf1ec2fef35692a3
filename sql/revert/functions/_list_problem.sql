-- Revert qwf:functions/_list_problem

begin;

drop function qwf._list_problem(jsonb, jsonb);

commit;
