-- Revert qwf:functions/_is_type

begin;

drop function qwf._is_type(jsonb, jsonb);

commit;
