select matches(qwf.version(), '^[0-9]+[.][0-9]+[.][0-9]+$', 'major.minor.patch');
