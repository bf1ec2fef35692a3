-- Verify qwf:views/dead_workers

begin;

select worker, host, queue, silent, running from qwf.dead_workers where false;

rollback;
