#!/bin/sh
# Makes a large output file that takes no space.
truncate -s "$1" "$QWF_OUTPUT"
