-- Revert qwf:functions/announce

begin;

drop function qwf.announce(text, jsonb);

commit;
