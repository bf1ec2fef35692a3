-- Verify qwf:functions/worker_orders

begin;

select 'qwf.worker_orders(text)'::regprocedure;

rollback;
