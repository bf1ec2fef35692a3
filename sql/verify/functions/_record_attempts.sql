-- Verify qwf:functions/_record_attempts

begin;

select 'qwf._record_attempts(qwf.ended[], timestamptz)'::regprocedure;

rollback;
