-- Verify qwf:functions/claim

begin;

select 'qwf.claim(text, text, int, interval, boolean)'::regprocedure;

rollback;
