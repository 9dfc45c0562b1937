#!/bin/bash
# The sweep @NAME@ on this machine. Run it again after whatever happened: what is there is kept.
set -e
@CAROM@ sweep run @PLAN@ --out @OUT@
@CAROM@ sweep merge @OUT@ -o @TABLE@
