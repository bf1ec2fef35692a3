-- Verify qwf:functions/_refuse_not_yet

begin;

select 'qwf._refuse_not_yet(text, text, interval, text)'::regprocedure;

rollback;
