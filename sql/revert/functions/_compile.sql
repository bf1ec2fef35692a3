-- Revert qwf:functions/_compile

begin;

drop function qwf._compile(jsonb, jsonb);

commit;
