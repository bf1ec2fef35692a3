-- Verify qwf:functions/_read_reports

begin;

select 'qwf._read_reports(jsonb)'::regprocedure;

rollback;
