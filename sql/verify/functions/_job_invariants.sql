-- Verify qwf:functions/_job_invariants

begin;

select 'qwf._job_invariants()'::regprocedure;

rollback;
