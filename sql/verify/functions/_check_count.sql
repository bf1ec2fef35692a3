-- Verify qwf:functions/_check_count

begin;

select 'qwf._check_count(text, int)'::regprocedure;

rollback;
