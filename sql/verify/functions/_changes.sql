-- Verify qwf:functions/_changes

begin;

select 'qwf._changes(qwf.event[], qwf.opened[])'::regprocedure;

rollback;
