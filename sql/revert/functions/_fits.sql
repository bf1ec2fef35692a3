-- Revert qwf:functions/_fits

begin;

drop function qwf._fits(qwf.jobs, qwf.workers, timestamptz);

commit;
