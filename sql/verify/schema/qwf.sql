-- Verify qwf:schema/qwf

begin;

select 'qwf'::regnamespace;

rollback;
