-- 2 tests
-- Postgres refuses to update or delete rows of a published table without a replica identity, so a
-- publication of all tables would stop the engine. Unlogged tables are never published.
prepare unpublishable as
  select c.oid::regclass
  from pg_class c
  where c.relnamespace in ('qwf'::regnamespace, '_qwf'::regnamespace)
    and c.relkind in ('r', 'p')
    and c.relpersistence = 'p'
    and not (c.relreplident = 'f' or c.relreplident = 'd' and exists (
      select from pg_index i where i.indrelid = c.oid and i.indisprimary));

select is_empty('unpublishable', 'every logged table has a primary key or sends whole rows');
alter table qwf.attempt_counts replica identity default;
select results_eq('unpublishable', $$values ('qwf.attempt_counts'::regclass)$$,
  'this test finds one that has neither');
