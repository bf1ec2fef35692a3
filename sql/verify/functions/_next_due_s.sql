-- Verify qwf:functions/_next_due_s

begin;

select 'qwf._next_due_s(timestamptz)'::regprocedure;

rollback;
