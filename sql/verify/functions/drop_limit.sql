-- Verify qwf:functions/drop_limit

begin;

select 'qwf.drop_limit(text)'::regprocedure;

rollback;
