-- Verify qwf:functions/_hold

begin;

select 'qwf._hold(qwf.report[])'::regprocedure;

rollback;
