-- Verify qwf:schema/roles

begin;

select 'qwf._allow'::regproc;

rollback;
