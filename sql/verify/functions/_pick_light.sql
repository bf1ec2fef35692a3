-- Verify qwf:functions/_pick_light

begin;

select 'qwf._pick_light(text, qwf.workers, timestamptz, int)'::regprocedure;

rollback;
