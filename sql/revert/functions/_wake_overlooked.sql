-- Revert qwf:functions/_wake_overlooked

begin;

drop function qwf._wake_overlooked();

commit;
