-- Revert qwf:functions/_transition

begin;

drop function qwf._transition(text, boolean, int, int, int, int, jsonb, text, qwf.settings);

commit;
