-- Revert qwf:schema/workers

begin;

drop table qwf.sleepers;
drop table qwf.worker_controls;
drop table qwf.workers;

commit;
