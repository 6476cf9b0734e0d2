#!/usr/bin/env bash
# Runs `go build` and shows how far it is, on one line of a terminal, or every 15 seconds. Usage: build/compile.sh OUTPUT FLAG... PACKAGE...
#
# What is cached is not printed by the go command, so progress is the place of the package in `go list -deps`: it compiles in
# that order.
set -euo pipefail
output=$1
shift

# The compiler's garbage collector takes a quarter of a cold build. With memory to spare it runs only at a limit.
if [ -z "${GOGC:-}" ] && [ -r /proc/meminfo ]; then
	available=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)
	share=$((available / 2 / ($(nproc) + 1))) # MiB: as many compilers as processors, and the go command
	if [ "$share" -ge 1024 ]; then
		export GOGC=off GOMEMLIMIT=${share}MiB
	elif [ "$share" -ge 256 ]; then
		export GOGC=300
	fi
fi

declare -A place
total=0
list() {
	while read -r package; do place[$package]=$((++total)); done < <(go list -deps "$@" 2>/dev/null)
}

# status shows a text until the next one.
next=0
status() {
	if [ -t 2 ]; then
		printf '\r\033[K  %.*s' $(($(tput cols 2>/dev/null || echo 80) - 3)) "$1" >&2
	elif [ $SECONDS -ge $next ]; then
		printf '  %s\n' "$1" >&2
		next=$((SECONDS + 15))
	fi
}
clear() { [ ! -t 2 ] || printf '\r\033[K' >&2; }

follow() {
	local line
	while IFS= read -r line; do
		case $line in
		'go: downloading '*)
			status "downloading ${line#go: downloading }"
			continue
			;;
		esac
		[ $total -gt 0 ] || list "$@"
		if [ -z "${place[$line]:-}" ]; then # a fault of the compiler's
			clear
			printf '%s\n' "$line" >&2
		elif [ "${place[$line]}" -eq $total ]; then
			status "linking $line"
		else
			status "compiling package ${place[$line]} of $total: $line"
		fi
	done
	clear
}
go build -v -o "$output" "$@" 2>&1 >/dev/null | follow "$@"
