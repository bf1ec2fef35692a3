-- Verify qwf:functions/deregister_worker

begin;

select 'qwf.deregister_worker(text)'::regprocedure;

rollback;
