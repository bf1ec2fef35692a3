-- Verify qwf:functions/_edges

begin;

select 'qwf._edges(jsonb)'::regprocedure;

rollback;
