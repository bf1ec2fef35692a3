begin;
select plan(5);

select is(_qwf.topological(4, '{4,3,4}', '{3,1,1}'), '{2,4,3,1}', 'first what depends on nothing');
select is(_qwf.topological(3, '{}', '{}'), '{1,2,3}', 'without edges the order stays');
select is(_qwf.topological(3, null, null), '{1,2,3}', 'or with none given');
select is(_qwf.topological(0, '{}', '{}'), '{}', 'nothing');
select is(_qwf.topological(4, '{1,2,2,3}', '{2,1,3,4}'), '{}',
  'leaves out a cycle and what follows');

select * from finish();
rollback;
