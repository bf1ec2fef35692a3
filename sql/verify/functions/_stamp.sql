-- Verify qwf:functions/_stamp

begin;

select 'qwf._stamp(qwf.picked[], text, timestamptz, timestamptz, interval)'::regprocedure;

rollback;
