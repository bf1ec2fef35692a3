-- Revert qwf:functions/_coalesce

begin;

drop function qwf._coalesce(jsonb, jsonb);

commit;
