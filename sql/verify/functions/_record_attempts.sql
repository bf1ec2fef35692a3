-- Verify qwf:functions/_record_attempts

begin;

select 'qwf._record_attempts(qwf.ended[], timestamptz, qwf.settings)'::regprocedure;

rollback;
