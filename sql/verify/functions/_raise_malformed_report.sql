-- Verify qwf:functions/_raise_malformed_report

begin;

select 'qwf._raise_malformed_report(jsonb)'::regprocedure;

rollback;
