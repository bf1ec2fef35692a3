-- Verify qwf:schema/private_tables

begin;

select name from _qwf.locks where false;
select single, key from _qwf.secret where false;

rollback;
