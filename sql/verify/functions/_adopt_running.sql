-- Verify qwf:functions/_adopt_running

begin;

select 'qwf._adopt_running(text)'::regprocedure;

rollback;
