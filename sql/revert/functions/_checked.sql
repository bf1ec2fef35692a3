-- Revert qwf:functions/_checked

begin;

drop function qwf._checked(jsonb, jsonb, text);

commit;
