-- Verify qwf:functions/_check_claim

begin;

select 'qwf._check_claim(text, int, interval)'::regprocedure;

rollback;
