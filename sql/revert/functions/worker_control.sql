-- Revert qwf:functions/worker_control

begin;

drop function qwf.worker_control(text, text, text, text, text, text, timestamptz);

commit;
