-- Verify qwf:functions/_check_limit

begin;

select 'qwf._check_limit(text, text)'::regprocedure;

rollback;
