-- Verify qwf:functions/_current_pipelines

begin;

select 'qwf._current_pipelines(text[])'::regprocedure;

rollback;
