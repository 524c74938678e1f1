#!/bin/sh
# SPDX-License-Identifier: Apache-2.0

# A schedule provider in shell: the guide's reconcile of ManualSchedule, by plain
# calls to the API server. It needs a POSIX shell, curl and awk, and an account
# with the rights that the guide grants: get, list and watch on manualschedules,
# and get, update and patch on their status.
#
# In a pod it finds everything by itself. Elsewhere, tell it:
#   API_SERVER  where the API server is (https://host:port)
#   TOKEN_FILE  file with a token of the account
#   CA_FILE     file with the certificate of the API server's authority
set -u

: "${API_SERVER:=https://kubernetes.default.svc}"
: "${TOKEN_FILE:=/var/run/secrets/kubernetes.io/serviceaccount/token}"
: "${CA_FILE:=/var/run/secrets/kubernetes.io/serviceaccount/ca.crt}"

group=$API_SERVER/apis/spotschedules.5spot.finos.org/v1alpha1
decide=$(dirname "$0")/decide.awk

umask 077
work=$(mktemp -d) || exit 1
mkfifo "$work/events" || exit 1
watch=
stop() {
	trap - TERM INT
	[ -z "$watch" ] || kill "$watch" 2>/dev/null
	rm -rf "$work"
	exit 0
}
trap stop TERM INT

# The token goes to curl in a file, so that no list of processes shows it. It is
# read anew for each watch, since tokens of pods are replaced before they expire.
login() {
	printf 'header = "Authorization: Bearer %s"\n' "$(cat "$TOKEN_FILE")" >"$work/login"
}

call() {
	curl --config "$work/login" --cacert "$CA_FILE" --silent --show-error "$@"
}

# Reads events, one object in JSON each, and patches the statuses that call for
# it. It ends when the events do, or when the API server takes no patch at all.
follow() {
	while IFS= read -r event; do
		now=$(date -u +%Y-%m-%dT%H:%M:%SZ)
		change=$(printf '%s\n' "$event" | awk -v now="$now" -f "$decide") || return 1
		[ -n "$change" ] || continue
		object=${change%% *}
		code=$(call --max-time 30 --output /dev/null --write-out '%{http_code}' --request PATCH \
			--header 'Content-Type: application/merge-patch+json' \
			--data-binary "${change#* }" "$group/$object/status")
		case $code in
		200) echo "$now $object: status published" ;;
		# It changed or went meanwhile; the event that says so is on its way.
		404 | 409) ;;
		# Not logged in, too many requests, not there, or in trouble: begin again.
		000 | 401 | 429 | 5??)
			echo "$now: the API server answers with $code" >&2
			return 1
			;;
		# This one is refused. Others need not wait for it: it is tried again when
		# it changes, and with the next watch.
		*) echo "$now $object: the API server refuses the patch with $code" >&2 ;;
		esac
	done
}

while :; do
	login
	# A watch without a resource version begins with every object that there is.
	curl --config "$work/login" --cacert "$CA_FILE" --silent --show-error --fail --no-buffer --max-time 660 \
		"$group/manualschedules?watch=1&timeoutSeconds=600" >"$work/events" &
	watch=$!
	follow <"$work/events" &
	wait $!
	kill "$watch" 2>/dev/null
	wait "$watch"
	# It ended: it does after ten minutes, and when something is wrong.
	sleep 1 &
	wait $!
done
