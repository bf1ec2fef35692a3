-- Verify qwf:functions/claim

begin;

select 'qwf.claim(text, text, int, interval)'::regprocedure;

rollback;
