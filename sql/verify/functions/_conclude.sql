-- Verify qwf:functions/_conclude

begin;

select 'qwf._conclude(qwf.report[])'::regprocedure;

rollback;
