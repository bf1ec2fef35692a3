-- Verify qwf:functions/_next_position

begin;

select 'qwf._next_position(boolean)'::regprocedure;

rollback;
