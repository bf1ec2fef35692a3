-- Verify qwf:functions/_apply

begin;

select 'qwf._apply(qwf.event[])'::regprocedure;

rollback;
