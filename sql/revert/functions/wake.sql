-- Revert qwf:functions/wake

begin;

drop function qwf.wake(text);

commit;
