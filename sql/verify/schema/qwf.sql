-- Verify qwf:schema/qwf

begin;

select 'qwf'::regnamespace, '_qwf'::regnamespace;

rollback;
