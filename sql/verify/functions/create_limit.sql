-- Verify qwf:functions/create_limit

begin;

select 'qwf.create_limit(text, int)'::regprocedure;

rollback;
