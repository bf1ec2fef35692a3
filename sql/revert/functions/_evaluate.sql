-- Revert qwf:functions/_evaluate

begin;

drop function qwf._evaluate(jsonb, jsonb);

commit;
