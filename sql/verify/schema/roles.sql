-- Verify qwf:schema/roles

begin;

select 'qwf._allow(regprocedure, text[])'::regprocedure;

rollback;
