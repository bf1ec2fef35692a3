-- Verify qwf:functions/_is_timezone

begin;

select 'qwf._is_timezone(text)'::regprocedure;

rollback;
