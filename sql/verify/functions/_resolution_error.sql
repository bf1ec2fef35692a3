-- Verify qwf:functions/_resolution_error

begin;

select 'qwf._resolution_error(text)'::regprocedure;

rollback;
