-- Verify qwf:functions/stay_asleep

begin;

select 'qwf.stay_asleep(text, text, jsonb, interval)'::regprocedure;

rollback;
