-- Verify qwf:functions/_caught_up

begin;

select 'qwf._caught_up(interval)'::regprocedure;

rollback;
