-- Revert qwf:functions/_resolve

begin;

drop function qwf._resolve(jsonb, jsonb);

commit;
