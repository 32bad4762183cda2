#!/bin/sh
# Validate the events that arrived in FOLDER since the last time, and keep a report for a dashboard.
#
#   validate-lineage.sh FOLDER STATE
#
# FOLDER holds files of events (.jsonl, also .gz and .zst), STATE is a folder of this job's own.
# Nothing new, or everything valid: exit status 0. Faults are printed, at most 20, and the exit
# status is 1, so cron sends a mail and a systemd unit fails; STATE/report.xml (JUnit) has more.
# The same files are validated again the next time, until they have been valid or were removed.
set -eu
folder=${1:?the folder of events}
state=${2:?the folder of reports}
mkdir -p "$state"

next=$(mktemp "$state/stamp.XXXXXX") # as of now: what arrives meanwhile is for the next time
trap 'rm -f "$next"' EXIT
if [ -e "$state/stamp" ]; then
    set -- -newer "$state/stamp"
else
    set --
fi
list=$(find "$folder" -type f -name '*.jsonl*' "$@" | LC_ALL=C sort)
if [ -z "$list" ]; then
    echo "no new events in $folder"
    exit 0
fi

# One file per line: split there, and only there.
IFS='
'
set -f
# shellcheck disable=SC2086
streamt-ol validate --format junit --output-file "$state/report.xml" -- $list > "$state/summary.txt" || {
    # shellcheck disable=SC2086
    streamt-ol validate --max-problems 20 -- $list || exit 1
}
cat "$state/summary.txt"
mv "$next" "$state/stamp"
