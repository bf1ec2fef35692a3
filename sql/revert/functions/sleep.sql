-- Revert qwf:functions/sleep

begin;

drop function qwf.sleep(text, text);

commit;
