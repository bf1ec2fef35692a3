-- Revert qwf:functions/resolve

begin;

drop function qwf.resolve(jsonb, jsonb);

commit;
