-- Verify qwf:functions/_wake_waiting

begin;

select 'qwf._wake_waiting(text, int)'::regprocedure;

rollback;
