-- Verify qwf:functions/_walk_limit

begin;

select 'qwf._walk_limit(text, text, qwf.workers, timestamptz, int, boolean)'::regprocedure;

rollback;
