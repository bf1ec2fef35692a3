-- Revert qwf:functions/wake_channel

begin;

drop function qwf.wake_channel(text);

commit;
