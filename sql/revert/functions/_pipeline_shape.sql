-- Revert qwf:functions/_pipeline_shape

begin;

drop function qwf._pipeline_shape(jsonb, text);

commit;
