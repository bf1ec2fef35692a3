-- Revert qwf:functions/suspend_worker

begin;

drop function qwf.suspend_worker(text, text, interval);

commit;
