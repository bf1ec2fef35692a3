-- Revert qwf:functions/_compile_map

begin;

drop function qwf._compile_map(jsonb, jsonb);

commit;
