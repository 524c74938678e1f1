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

function decide(    enabled, known, flipped, settled, readies, others, i, path) {
	if (raw["/type"] == "\"ERROR\"")
		exit 1
	if (raw["/type"] != "\"ADDED\"" && raw["/type"] != "\"MODIFIED\"")
		exit 0
	enabled = raw["/object/spec/enabled"]
	known = enabled == "true" || enabled == "false"
	if (known) {
		ready["status"] = "\"True\""
		ready["reason"] = "\"Reconciled\""
		ready["message"] = "\"manual toggle applied\""
	} else { # nobody knows what is wanted: active stays, and Ready says not to trust it
		ready["status"] = "\"False\""
		ready["reason"] = "\"InvalidSpec\""
		ready["message"] = "\"spec.enabled is missing: set it to true or to false\""
	}
	flipped = known && raw["/object/status/active"] != enabled
	settled = !flipped && raw["/object/status/observedGeneration"] == raw["/object/metadata/generation"]

	# The list of conditions is replaced as a whole, so those of others go along.
	ready["since"] = "\"" now "\""
	for (i = 0; (path = "/object/status/conditions/" i) in raw; i++) {
		if (raw[path "/type"] != "\"Ready\"") {
			others = others "," raw[path]
			continue
		}
		readies++
		if (raw[path "/status"] != ready["status"])
			settled = 0
		else if (raw[path "/lastTransitionTime"] != "")
			ready["since"] = raw[path "/lastTransitionTime"]
	}
	if (settled && readies == 1)
		exit 0

	printf "namespaces/%s/manualschedules/%s ", word("/object/metadata/namespace"), word("/object/metadata/name")
	# With the resource version the API server refuses the patch if the object
	# changed meanwhile.
	printf "{\"metadata\":{\"resourceVersion\":%s},\"status\":{", raw["/object/metadata/resourceVersion"]
	if (flipped)
		printf "\"active\":%s,\"lastTransitionTime\":\"%s\",", enabled, now
	printf "\"observedGeneration\":%s,\"conditions\":[", raw["/object/metadata/generation"]
	printf "{\"type\":\"Ready\",\"status\":%s,\"reason\":%s,\"message\":%s,\"lastTransitionTime\":%s}%s]}}\n", \
		ready["status"], ready["reason"], ready["message"], ready["since"], others
}
