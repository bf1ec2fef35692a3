-- Verify qwf:functions/suspend_worker

begin;

select 'qwf.suspend_worker(text, text, interval)'::regprocedure;

rollback;
