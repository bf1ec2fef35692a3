-- As after rows of another cell were restored, or its sequences were set by hand.
begin;
select plan(5);

select qwf_test.workflow('w', '[{"id": "a"}]');
alter sequence qwf.jobs_id_seq start with 3 increment by 16 restart with 3;
alter sequence qwf.runs_id_seq start with 3 increment by 16 restart with 3;
alter sequence qwf.model_requests_id_seq start with 3 increment by 16 restart with 3;
select qwf.enqueue('t'), qwf.enqueue('t'), qwf.enqueue_run('w');
select is_empty('select * from qwf.check_invariants()', 'a cell with its own ids');

alter sequence qwf.runs_id_seq increment by 1;
select results_eq('select i.subject from qwf.check_invariants() i',
  $$ values ('qwf.runs_id_seq') $$, 'runs that would leave the cell');
alter sequence qwf.runs_id_seq increment by 16 restart with 21;
alter sequence qwf.jobs_id_seq restart with 100;
select is_empty('select * from qwf.check_invariants()', 'no wrong id was given out yet');
select qwf.enqueue('t'), qwf.enqueue('t'), qwf.enqueue_run('w');
select results_eq($$
  select i.subject, left(i.detail, 2) from qwf.check_invariants() i
  where i.invariant = 'an id belongs to the cell of its database' order by 1
$$, $$ values ('job 100', '3 '), ('run 21', '1 ') $$, 'one row a table, with the first id');
select results_eq($$
  select i.subject from qwf.check_invariants() i
  where i.invariant = 'sequences of ids agree on the cell' order by 1
$$, $$ values ('qwf.jobs_id_seq'), ('qwf.runs_id_seq') $$, 'and what gave the ids out');

select * from finish();
rollback;
