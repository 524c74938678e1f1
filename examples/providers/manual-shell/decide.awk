# SPDX-License-Identifier: Apache-2.0

# Reads one event of a watch on ManualSchedules (JSON in one line) and prints
# what is to be patched: the path of the object, a space, and the merge patch of
# its status. It prints nothing where the status is as it should be. The variable
# now is the current time in RFC 3339.

# Each JSON value of the event is kept as it is written, by its path:
# raw["/object/spec/enabled"] is true or false.
{
	text = $0
	at = 1
	value("")
	decide()
}

function value(path,    start, key, n, mark) {
	blank()
	start = at
	mark = substr(text, at, 1)
	if (mark == "{" || mark == "[") {
		at++
		blank()
		if (substr(text, at, 1) ~ /[]}]/) {
			at++
		} else {
			n = 0
			do {
				key = mark == "{" ? name() : n++
				value(path "/" key)
				blank()
				at++
			} while (substr(text, at - 1, 1) == ",")
			if (substr(text, at - 1, 1) !~ /[]}]/)
				malformed()
		}
	} else if (mark == "\"") {
		string()
	} else {
		if (!match(substr(text, at), /^[-+.0-9a-zA-Z]+/))
			malformed()
		at += RLENGTH
	}
	raw[path] = substr(text, start, at - start)
}

function name(    start) {
	blank()
	start = at
	string()
	start = substr(text, start + 1, at - start - 2)
	blank()
	if (substr(text, at++, 1) != ":")
		malformed()
	return start
}

function string() {
	if (!match(substr(text, at), /^"([^"\\]|\\.)*"/))
		malformed()
	at += RLENGTH
}

function blank() {
	while (substr(text, at, 1) ~ /[ \t\r]/)
		at++
}

function malformed() {
	print "an event that is no JSON" | "cat 1>&2"
	exit 1
}

function word(path) {
	return substr(raw[path], 2, length(raw[path]) - 2)
}

function decide(    active, since, flipped, readies, settled, ready, others, i, path) {
	if (raw["/type"] == "\"ERROR\"")
		exit 1
	if (raw["/type"] != "\"ADDED\"" && raw["/type"] != "\"MODIFIED\"")
		exit 0
	active = raw["/object/spec/enabled"]
	if (active != "true" && active != "false")
		exit 0

	flipped = raw["/object/status/active"] != active
	since = raw["/object/status/lastTransitionTime"]
	if (flipped || since == "")
		since = "\"" now "\""
	settled = !flipped && raw["/object/status/observedGeneration"] == raw["/object/metadata/generation"]

	# The list of conditions is replaced as a whole, so those of others go along.
	ready = "\"" now "\""
	for (i = 0; (path = "/object/status/conditions/" i) in raw; i++) {
		if (raw[path "/type"] != "\"Ready\"") {
			others = others "," raw[path]
			continue
		}
		readies++
		if (raw[path "/status"] != "\"True\"")
			settled = 0
		else if (raw[path "/lastTransitionTime"] != "")
			ready = raw[path "/lastTransitionTime"]
	}
	if (settled && readies == 1)
		exit 0

	printf "namespaces/%s/manualschedules/%s ", word("/object/metadata/namespace"), word("/object/metadata/name")
	# With the resource version the API server refuses the patch if the object
	# changed meanwhile.
	printf "{\"metadata\":{\"resourceVersion\":%s},", raw["/object/metadata/resourceVersion"]
	printf "\"status\":{\"active\":%s,\"observedGeneration\":%s,", active, raw["/object/metadata/generation"]
	printf "\"lastTransitionTime\":%s,\"conditions\":[", since
	printf "{\"type\":\"Ready\",\"status\":\"True\",\"reason\":\"Reconciled\","
	printf "\"message\":\"manual toggle applied\",\"lastTransitionTime\":%s}%s]}}\n", ready, others
}
