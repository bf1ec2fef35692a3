-- 5 tests
select is(_qwf.topological(4, '{4,3,4}', '{3,1,1}'), '{2,4,3,1}',
  'vertices without dependencies come first');
select is(_qwf.topological(3, '{}', '{}'), '{1,2,3}', 'without edges the order does not change');
select is(_qwf.topological(3, null, null), '{1,2,3}', 'nor if the edges are null');
select is(_qwf.topological(0, '{}', '{}'), '{}', 'no vertices');
select is(_qwf.topological(4, '{1,2,2,3}', '{2,1,3,4}'), '{}',
  'leaves out a cycle and everything behind it');
