-- Revert qwf:functions/_read_jobs

begin;

drop function qwf._read_jobs(jsonb);

commit;
