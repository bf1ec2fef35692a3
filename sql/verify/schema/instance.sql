-- Verify qwf:schema/instance

begin;

select single, id, generation, began_at from qwf.instance where false;

rollback;
