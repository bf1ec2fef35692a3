-- Verify qwf:views/switched_off

begin;

select host, queue, stop_policy, requested_by, reason, until from qwf.switched_off where false;

rollback;
