-- Revert qwf:functions/_evaluate_operator

begin;

drop function qwf._evaluate_operator(jsonb, jsonb);

commit;
