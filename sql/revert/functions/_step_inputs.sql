-- Revert qwf:functions/_step_inputs

begin;

drop function qwf._step_inputs(jsonb, text, jsonb, jsonb);

commit;
