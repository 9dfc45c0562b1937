#!/bin/bash
# One table of the sweep @NAME@, when all tasks are done:
# sbatch --dependency=afterok:JOB
#SBATCH --job-name=carom-@NAME@-merge

@CAROM@ sweep merge @OUT@ -o @TABLE@
