-- Verify qwf:schema/roles

begin;

select '_qwf.allow'::regproc;

rollback;
