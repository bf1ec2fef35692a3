-- Verify qwf:functions/_first_reports

begin;

select 'qwf._first_reports(qwf.report[])'::regprocedure;

rollback;
