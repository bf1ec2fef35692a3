-- Verify qwf:functions/_refuse

begin;

select 'qwf._refuse(qwf.picked[], text, timestamptz)'::regprocedure;

rollback;
