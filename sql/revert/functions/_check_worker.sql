-- Revert qwf:functions/_check_worker

begin;

drop function qwf._check_worker(text);

commit;
