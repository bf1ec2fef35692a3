-- Verify qwf:functions/_check_worker

begin;

select 'qwf._check_worker(text)'::regprocedure;

rollback;
