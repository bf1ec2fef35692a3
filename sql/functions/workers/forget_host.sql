-- Deploy qwf:functions/workers/forget_host
-- Purpose: Forgets a box that is gone for good: its dead workers and the orders for it.
-- Guarantees: The jobs that its workers held are released, as deregister_worker does. A box that
--   comes back registers again, without the orders. A second call does no harm.
--   A box that has no worker and no order is told in a notice, with the name that was meant.
-- Locks: as deregister_worker, worker by worker, then the orders.
-- Notifies: worker_control, with host:queue, for each order.
-- Raises: QW002 if a worker of the box is alive.
-- Called by: operators, qwf worker forget --host.

begin;

create function qwf.forget_host(host text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_alive text;
  v_workers int;
  v_orders int;
begin
  if not exists (select from qwf.workers w where w.host = forget_host.host)
    and not exists (select from qwf.worker_controls c where c.host_label = forget_host.host) then
    raise notice using message = format('box %s has no worker and no order',
        left(forget_host.host, 200)),
      hint = coalesce(
        _qwf.did_you_mean(forget_host.host, array(select distinct w.host from qwf.workers w)),
        'the names of all boxes: select host from qwf.box_overview');
  end if;
  select f.worker into v_alive
  from qwf.worker_overview f
  where f.host = forget_host.host and f.state not in ('dead', 'stopped')
  limit 1;
  if found then
    raise exception using errcode = 'QW002', message = 'a worker of this box is alive',
      detail = format('host %s, worker %s', forget_host.host, v_alive),
      hint = 'stop its agents first: systemctl stop ''qwf-agent@*''';
  end if;
  perform qwf.deregister_worker(d.worker)
  from (
    select w.worker from qwf.worker_overview w
    where w.host = forget_host.host and not w.live and w.stopped_at is null
    order by w.worker
  ) d;
  get diagnostics v_workers = row_count;
  delete from qwf.worker_controls c where c.host_label = forget_host.host;
  get diagnostics v_orders = row_count;
  if v_workers + v_orders > 0 then
    insert into _qwf.event_log (at, kind, subject, detail)
    values (qwf.now(), 'host_forgotten', forget_host.host,
      jsonb_build_object('workers', v_workers, 'orders', v_orders));
  end if;
end $$;
comment on function qwf.forget_host is
  'Forgets a box that is gone: marks its dead workers as stopped, releases the jobs they held, and '
  'removes the orders for it. A notice names a box that is not known. QW002: one of its workers is '
  'alive.';
call _qwf.allow('qwf.forget_host', 'qwf_admin');

commit;
