#!/bin/bash
# A part of the sweep @NAME@ for every task of a Slurm array. Submit it as it is, as often as you like: what is
# there is kept. Under bash alone, with SLURM_ARRAY_TASK_ID set, it does the same part.
#SBATCH --job-name=carom-@NAME@
#SBATCH --array=0-@LAST@
#SBATCH --requeue
#SBATCH --signal=B:TERM@60
#SBATCH --open-mode=append
#SBATCH --cpus-per-task=1

carom=(@CAROM@)
plan=@PLAN@
out=@OUT@

"${carom[@]}" sweep run "$plan" --out "$out" \
    --shard "$SLURM_ARRAY_TASK_ID/@TASKS@" --threads "${SLURM_CPUS_PER_TASK:-1}" &
child=$!
trap 'kill -TERM "$child" 2>/dev/null' TERM
wait "$child"
# A signal ends the wait, not the child.
while kill -0 "$child" 2>/dev/null; do wait "$child"; done
wait "$child"
status=$?
# 1: stopped before the end, by the signal that comes before the time limit. The rest is for another time.
if [ "$status" -eq 1 ] && [ -n "${SLURM_JOB_ID:-}" ]; then
    scontrol requeue "$SLURM_JOB_ID" && sleep 60
fi
exit "$status"
