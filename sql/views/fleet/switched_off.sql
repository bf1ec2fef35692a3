-- Deploy qwf:views/fleet/switched_off
-- Purpose: Hosts that are switched off now. Only this view decides when that ends.

begin;

create view qwf.switched_off as
select c.host_label as host, c.queue, c.stop_policy, c.login,
  c.requested_by as acting_for, c.reason, c.until
from qwf.worker_controls c
where c.desired_state = 'off' and (c.until is null or c.until > qwf.now());
comment on view qwf.switched_off is
  'Hosts that do not serve a queue at the moment: select * from qwf.switched_off.';
comment on column qwf.switched_off.host is 'Box that is off.';
comment on column qwf.switched_off.queue is 'Queue it does not serve.';
comment on column qwf.switched_off.stop_policy is
  'The effect on the jobs it runs: hard (killed), drain or pause.';
comment on column qwf.switched_off.login is 'Login that switched it off.';
comment on column qwf.switched_off.acting_for is
  'For whom that login said it acts; nobody checks it.';
comment on column qwf.switched_off.reason is 'Why; null: no reason given.';
comment on column qwf.switched_off.until is 'When it comes on by itself; null: never.';

commit;
