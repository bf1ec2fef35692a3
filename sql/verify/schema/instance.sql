-- Verify qwf:schema/instance

begin;

select singleton, id, generation, began_at from qwf.instance where false;

rollback;
