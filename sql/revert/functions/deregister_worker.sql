-- Revert qwf:functions/deregister_worker

begin;

drop function qwf.deregister_worker(text);

commit;
