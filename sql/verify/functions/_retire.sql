-- Verify qwf:functions/_retire

begin;

select 'qwf._retire(qwf.held[], timestamptz, qwf.settings)'::regprocedure;

rollback;
