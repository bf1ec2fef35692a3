-- Verify qwf:functions/_settle_cancel_requests

begin;

select 'qwf._settle_cancel_requests()'::regprocedure;

rollback;
