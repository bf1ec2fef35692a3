-- Deploy qwf:functions/metrics/_worker_metrics
-- Purpose: Returns the figures of workers: their states, versions, switches, and room for files.
-- Called by: metrics_of.

begin;

create function _qwf.worker_metrics() returns setof _qwf.metric
language sql stable
as $$
  select 'qwf_off_seconds', array['host', o.host, 'queue', o.queue],
    date_part('epoch', qwf.now() - c.updated_at), 'gauge',
    'Time since the order to be off last changed.'
  from (select) one
  left join (
    qwf.switched_off o
    join qwf.worker_controls c on c.host_label = o.host and c.queue = o.queue) on true
  union all
  select 'qwf_schema_info', array['version', qwf.version()], 1, 'gauge',
    '1 for the version of the schema.'
  union all
  select 'qwf_worker_versions', array['version', v.version], v.workers, 'gauge',
    'Live workers, by version of the agent.'
  from (select) one
  left join (
    select coalesce(f.version, '') as version, count(*) as workers from qwf.worker_overview f
    where f.state not in ('dead', 'stopped')
    group by f.version) v on true
  union all
  select 'qwf_out_root_free_bytes', array['host', r.host, 'out_root', r.out_root],
    r.free, 'gauge', 'What bodies may still write there.'
  from (select) one
  left join (
    select w.host, w.out_root, min(jsonb_path_query_first(
      w.stats, '$.out_free_bytes ? (@ >= 0 && @ < 1e18)')::numeric) as free
    from qwf.workers w join qwf.worker_overview f on f.worker = w.id
    where f.state not in ('dead', 'stopped') and w.out_root is not null
    group by w.host, w.out_root) r on true
  union all
  select 'qwf_unreported_bodies', array['host', u.host], u.reports, 'gauge',
    'Ended bodies whose reports the database refuses.'
  from (select) one left join _qwf.unreported() u on true
  union all
  select 'qwf_workers', array['host', s.host, 'queue', s.queue, 'state', s.state],
    s.workers, 'gauge', 'Workers seen in the last day, by state.'
  from (select) one
  left join (
    select f.host, f.queue, f.state, count(*) as workers from qwf.worker_overview f
    where f.state <> 'stopped'
    group by f.host, f.queue, f.state) s on true
$$;

commit;
