-- Revert qwf:functions/_delete_jobs

begin;

drop function qwf._delete_jobs(bigint[]);

commit;
