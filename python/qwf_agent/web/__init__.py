"""`qwf web`: pages that show the fleet, steer it and answer its questions."""
