-- Revert qwf:functions/_missing_inputs

begin;

drop function qwf._missing_inputs(jsonb, jsonb, text);

commit;
