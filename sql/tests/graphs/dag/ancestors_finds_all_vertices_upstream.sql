-- 2 tests
select is(_qwf.ancestors(4, '{1,2,3,4}', '{1,2,1}', '{2,3,4}', '{true,true,true}')::text,
  '{0000,1000,1100,1000}', 'through any number of edges');
select is(_qwf.ancestors(3, '{1,2,3}', '{1,2}', '{2,3}', '{true,false}')::text,
  '{000,100,100}', 'an edge that is not whole passes on only what is behind its tail');
