-- Verify qwf:functions/_run_with_key

begin;

select 'qwf._run_with_key(text, text, text)'::regprocedure;

rollback;
