-- Verify qwf:functions/_graph_for

begin;

select 'qwf._graph_for(text)'::regprocedure;

rollback;
