-- Deploy qwf:views/fleet/order_overview
-- Purpose: The orders for boxes: who is switched off or on, and which model servers serve.

begin;

create view qwf.order_overview as
select
  c.host_label as host, c.queue, c.desired_state as state, c.stop_policy as policy,
  c.login, c.requested_by as acting_for, c.reason, c.until, c.server, c.parallel, c.server_idle,
  c.created_at, c.updated_at
from qwf.worker_controls c;
comment on view qwf.order_overview is
  'Orders for boxes, also those that are over: select * from qwf.order_overview. Those in force '
  'that switch a box off are in qwf.switched_off. They stay until qwf.forget_host(host).';
comment on column qwf.order_overview.host is 'The box.';
comment on column qwf.order_overview.queue is 'The queue.';
comment on column qwf.order_overview.state is 'on or off, as ordered.';
comment on column qwf.order_overview.policy is 'How it stops: hard, drain or pause.';
comment on column qwf.order_overview.login is 'Login that gave the order.';
comment on column qwf.order_overview.acting_for is
  'For whom that login said it acts; nobody checks it.';
comment on column qwf.order_overview.reason is 'Why; null: no reason given.';
comment on column qwf.order_overview.until is 'When off turns into on by itself; null: never.';
comment on column qwf.order_overview.server is
  'The only model server of the box that serves the queue; null: all that the agent has.';
comment on column qwf.order_overview.parallel is
  'How many requests such a server takes at once; null: as the agent is configured.';
comment on column qwf.order_overview.server_idle is
  'How long a server may be idle before it is stopped, 0: never; null: as the agent is configured.';
comment on column qwf.order_overview.created_at is 'When the box and queue got their first order.';
comment on column qwf.order_overview.updated_at is 'When the order was last changed.';

commit;
