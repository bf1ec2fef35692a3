#!/bin/sh
# Leaves a process behind that keeps its standard output open.
sleep 600 &
echo $! > "$1"
echo '{"left": true}'
