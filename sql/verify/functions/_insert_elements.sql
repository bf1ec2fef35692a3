-- Verify qwf:functions/_insert_elements

begin;

select 'qwf._insert_elements(bigint, jsonb, jsonb)'::regprocedure;

rollback;
