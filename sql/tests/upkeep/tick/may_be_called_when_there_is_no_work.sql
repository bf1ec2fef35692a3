select ok(qwf.tick() @> '{"ran": true, "reclaimed": 0, "promoted": 0, "cancelled": 0,
  "drained": 0, "next_due_s": null}', 'by anybody, at any time');
