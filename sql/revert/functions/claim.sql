-- Revert qwf:functions/claim

begin;

drop function qwf.claim(text, text, int, interval, boolean);

commit;
