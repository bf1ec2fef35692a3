-- Verify qwf:functions/_stamp

begin;

select 'qwf._stamp(bigint[], text, timestamptz, timestamptz, interval)'::regprocedure;

rollback;
