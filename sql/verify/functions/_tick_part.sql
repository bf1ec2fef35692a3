-- Verify qwf:functions/_tick_part

begin;

select 'qwf._tick_part(text)'::regprocedure;

rollback;
