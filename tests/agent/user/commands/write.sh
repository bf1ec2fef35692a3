#!/bin/sh
printf '%s' "$1" > "$QWF_OUTPUT"
