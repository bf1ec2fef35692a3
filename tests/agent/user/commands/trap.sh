#!/bin/sh
trap 'echo stopped >> "$1"; exit 3' TERM
echo started > "$1"
while :; do sleep 0.05; done
