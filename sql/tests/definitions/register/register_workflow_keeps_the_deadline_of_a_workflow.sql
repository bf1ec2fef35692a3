-- 3 tests
select qwf.register_workflow('{"name": "a", "steps": [], "deadline": "2 hours"}');
select qwf.register_workflow('{"name": "b", "steps": [], "deadline": 90.5}');
select qwf.register_workflow('{"name": "c", "steps": []}');
select is(g.deadline, c.deadline, c.name)
from (values ('a', interval '2 h'), ('b', '90.5 s'), ('c', null)) c (name, deadline)
join qwf.graphs g on g.id = _qwf.graph_for(c.name);
