-- Verify qwf:functions/_floor

begin;

select 'qwf._floor(text)'::regprocedure;

rollback;
