-- Verify qwf:views/dead_workers

begin;

select worker, host, queue, running, silent, lapses_at from qwf.dead_workers where false;

rollback;
