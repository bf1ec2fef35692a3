-- Verify qwf:functions/_check_key

begin;

select 'qwf._check_key(text, text, text)'::regprocedure;

rollback;
