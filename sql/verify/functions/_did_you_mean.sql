-- Verify qwf:functions/_did_you_mean

begin;

select 'qwf._did_you_mean(text, text[])'::regprocedure;

rollback;
