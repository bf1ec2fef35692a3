#!/bin/sh
# Leaves a process behind that keeps its standard output open.
sleep 600 &
# Until the new process has loaded its program, it has the name of this script.
until [ "$(cat /proc/$!/comm)" = sleep ]; do sleep 0.01; done
echo $! > "$1"
echo '{"left": true}'
