-- Verify qwf:functions/_interval

begin;

select 'qwf._interval(jsonb)'::regprocedure;

rollback;
