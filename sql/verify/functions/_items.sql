-- Verify qwf:functions/_items

begin;

select 'qwf._items(jsonb)'::regprocedure;

rollback;
