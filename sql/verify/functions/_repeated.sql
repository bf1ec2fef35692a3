-- Verify qwf:functions/_repeated

begin;

select 'qwf._repeated(qwf.report)'::regprocedure;

rollback;
