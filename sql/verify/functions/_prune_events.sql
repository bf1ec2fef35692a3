-- Verify qwf:functions/_prune_events

begin;

select 'qwf._prune_events(int)'::regprocedure;

rollback;
