-- Deploy qwf:views/runs/compensations
-- Purpose: The nodes that compensation nodes take back, and whether they have.
-- Guarantees: One row for each node that can be taken back, and each node that does it.
-- Called by: people, qwf show, qwf web.

begin;

create view qwf.compensations as
select
  c.run_id, c.node_id, c.id as job_id, c.status, t.node_id as takes_back, t.id as takes_back_job,
  d.done and c.status = 'completed' as taken_back, d.done
from qwf.jobs c
join qwf.graph_nodes g on g.graph_id = c.graph_id and g.idx = c.node_idx
cross join lateral unnest(g.compensates) n (node_id)
join qwf.graph_nodes m on m.graph_id = c.graph_id and m.node_id = n.node_id
join qwf.jobs t on t.run_id = c.run_id and t.node_idx = m.idx
cross join lateral (select t.status = 'completed'
  or t.elements is not null and m.repeat is null and exists (
    select from qwf.jobs e where e.parent_id = t.id and e.status = 'completed') as done) d
where c.run_if = 'compensates';
comment on view qwf.compensations is
  'The nodes that compensation nodes take back: select * from qwf.compensations where run_id = 7.';
comment on column qwf.compensations.run_id is 'Run id.';
comment on column qwf.compensations.node_id is 'The compensation node.';
comment on column qwf.compensations.job_id is 'Job that executes it.';
comment on column qwf.compensations.status is
  'State of that job; skipped: the run goes on or completed, or there is nothing to take back.';
comment on column qwf.compensations.takes_back is 'The node that it takes back.';
comment on column qwf.compensations.takes_back_job is 'Job that executes that node.';
comment on column qwf.compensations.taken_back is
  'True: it has taken that node back, and a retry runs that node again.';
comment on column qwf.compensations.done is
  'True: that node has completed, or an element of it if it is a map. What is done and not taken '
  'back by any node stands.';

commit;
