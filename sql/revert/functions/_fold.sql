-- Revert qwf:functions/_fold

begin;

drop function qwf._fold(jsonb, jsonb);

commit;
