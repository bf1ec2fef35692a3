-- Revert qwf:functions/_misfits

begin;

drop function qwf._misfits(qwf.jobs, qwf.workers, timestamptz);

commit;
