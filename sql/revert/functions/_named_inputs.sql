-- Revert qwf:functions/_named_inputs

begin;

drop function qwf._named_inputs(jsonb);

commit;
