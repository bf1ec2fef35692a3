-- Revert qwf:functions/_compile_step

begin;

drop function qwf._compile_step(jsonb, text, jsonb, jsonb);

commit;
