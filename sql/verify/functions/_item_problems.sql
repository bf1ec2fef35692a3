-- Verify qwf:functions/_item_problems

begin;

select 'qwf._item_problems(jsonb, text, jsonb)'::regprocedure;

rollback;
