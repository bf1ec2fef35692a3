-- Verify qwf:functions/_resolve_picked

begin;

select 'qwf._resolve_picked(qwf.picked[])'::regprocedure;

rollback;
