-- Verify qwf:functions/_segments

begin;

select 'qwf._segments(jsonb)'::regprocedure;

rollback;
