#!/bin/sh
echo "working"
echo "$1"
