select throws_ok('select qwf.run_graph(4711)', 'QW001', null, 'no such run');
