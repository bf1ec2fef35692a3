select is(qwf.register_pipeline('{"name": "p", "nodes": []}'), 1, 'a pipeline may have no nodes');
