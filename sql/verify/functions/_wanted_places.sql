-- Verify qwf:functions/_wanted_places

begin;

select 'qwf._wanted_places(text, qwf.workers, timestamptz, int, boolean, jsonb)'::regprocedure;

rollback;
