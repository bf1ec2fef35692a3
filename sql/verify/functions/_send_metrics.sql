-- Verify qwf:functions/_send_metrics

begin;

select 'qwf._send_metrics()'::regprocedure;

rollback;
