#!/usr/bin/env bash
# Says what the machine lacks for `make build`, `make run` or `make test`, and how to mend it, before anything is built:
#   build/check.sh build|run|test
# Every fault is one sentence. Errors end it with 1, warnings do not. `argosy doctor` looks deeper once it is built.
# Tests give it a PATH of their own and CHECK_ROOT, the folder in which it finds /proc and /sys.
set -uo pipefail
goal=${1:-build}
cd "$(dirname "$0")/.." || exit
root=${CHECK_ROOT:-}
errors=0

error() {
	echo "error: $*" >&2
	errors=$((errors + 1))
}
warning() { echo "warning: $*" >&2; }
have() { command -v "$1" >/dev/null; }

# setting is the first line of a file of the kernel's, empty where this kernel has none.
setting() {
	local value=
	[ -r "$root$1" ] && read -r value <"$root$1"
	echo "$value"
}

as_root() { [ "$(id -u)" -eq 0 ] || echo "sudo "; }

# install is the command that installs packages of Debian.
install() {
	if have apt-get; then echo "$(as_root)apt-get install -y $*"; else echo "install it with your package manager (in Debian: $*)"; fi
}

# older says whether the first version is older than the second.
older() { [ "$1" != "$2" ] && [ "$(printf '%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; }

# size writes MiB for people.
size() { if [ "$1" -lt 1024 ]; then echo "$1 MiB"; else echo "$(($1 / 1024)).$(($1 % 1024 * 10 / 1024)) GiB"; fi; }

check_system() {
	local system machine release
	system=$(uname -s) machine=$(uname -m) release=$(uname -r)
	if [ "$system" != Linux ]; then
		error "the embedded cluster needs the namespaces of Linux, which $system does not have: use a Linux virtual machine (WSL 2, Lima, Multipass)," \
			"or build the command alone (go build ./cmd/argosy) and run argosy server on a cluster you have"
		exit 1 # what follows looks at Linux
	fi
	case $machine in
	x86_64 | aarch64) ;;
	*) error "Argosy is made for x86_64 and aarch64, and this machine is $machine: use another machine" ;;
	esac
	if older "${release%%-*}" 5.6; then
		error "Linux $release is too old; the cluster needs 5.6 or newer: use a newer kernel, or a newer release of this system"
	fi
}

check_toolchain() {
	local needs has
	needs=$(sed -n 's/^go //p' go.mod)
	if ! have go; then
		error "there is no go on the PATH, which compiles Argosy: install Go $needs or newer (https://go.dev/doc/install)"
	else
		has=$(go version 2>/dev/null | sed -n 's/.* go\([0-9][0-9.]*\).*/\1/p')
		if [ -z "$has" ]; then
			error "go version does not say a version: install Go $needs or newer (https://go.dev/doc/install)"
		elif older "$has" "$needs"; then
			local fetch=", or let yours fetch it (GOTOOLCHAIN=auto make $goal)"
			! older "$has" 1.21 || fetch= # these cannot
			error "Go $has is too old; Argosy needs $needs or newer: install it (https://go.dev/doc/install)$fetch"
		fi
	fi
	local compiler=${CC:-gcc}
	if ! have "$compiler"; then
		error "there is no $compiler, which compiles SQLite: $(install gcc libc6-dev)"
	elif ! "$compiler" -E -x c - <<<'#include <stdlib.h>' >/dev/null 2>&1; then
		error "$compiler does not find the headers of the C library: $(install libc6-dev)"
	fi
	needs=20.19 # of the frontend's package.json
	if ! have node; then
		error "there is no node on the PATH, which builds the UI: install Node $needs or newer (https://nodejs.org/en/download)"
	else
		has=$(node --version)
		if older "${has#v}" "$needs"; then
			error "Node ${has#v} is too old; the UI needs $needs or newer: install it (https://nodejs.org/en/download)"
		fi
		have npm || error "there is no npm on the PATH, which fetches the UI's packages: $(install npm)"
	fi
	have git || error "there is no git, which fetches the code of jobs: $(install git)"
	have make || error "there is no make: $(install make)"
}

# check_namespaces makes the namespaces that the cluster makes. Its words are those of cluster/doctor.
check_namespaces() {
	have unshare || return 0
	if [ "$(id -u)" -eq 0 ]; then
		unshare --mount --net true 2>/dev/null || error "the kernel refuses new mount and network namespaces, in which pods run:" \
			"inside a container, start that container with docker run --privileged"
		return
	fi
	unshare --user --map-root-user --mount --net true 2>/dev/null && return
	local mend='' name bad good
	while read -r name bad good; do
		[ "$(setting "/proc/sys/${name//.//}")" != "$bad" ] || mend+="${mend:+ && }sudo sysctl -w $name=$good"
	done <<-END
		kernel.unprivileged_userns_clone 0 1
		kernel.apparmor_restrict_unprivileged_userns 1 0
		user.max_user_namespaces 0 15000
	END
	error "the kernel refuses user namespaces to ordinary users, in which pods run:" \
		"${mend:-inside a container, start that container with docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined}, or run as root"
}

# available is the memory that new processes can have, in MiB: no more than a container's limit.
available() {
	local mib limit file
	mib=$(awk '$1 == "MemAvailable:" || $1 == "SwapFree:" {sum += $2} END {print int(sum / 1024)}' "$root/proc/meminfo")
	for file in /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes; do
		limit=$(setting $file)
		case $limit in
		'' | *[!0-9]*) ;;
		*) [ $((limit / 1048576)) -ge "$mib" ] || mib=$((limit / 1048576)) ;;
		esac
	done
	echo "$mib"
}

# The link of argosy-controlplane gets by with 1 GiB and stands still with 700 MiB, which is what the running cluster takes.
check_memory() {
	[ -r "$root/proc/meminfo" ] || return 0
	local mib least=1024 what="the build takes"
	mib=$(available)
	[ ! -x bin/argosy-controlplane ] || least=700 what="the cluster takes"
	if [ "$mib" -lt $least ]; then
		error "$(size "$mib") of memory are free, and $what $(size $least): end what holds it (ps aux --sort -rss | head), or add swap"
	elif [ "$mib" -lt 2048 ]; then
		warning "$(size "$mib") of memory are free: a first build is slow with that, and little is left for jobs"
	fi
}

# check_disk adds up what will be written to each file system, in MiB: what a build from nothing writes, less what is there of it.
check_disk() {
	local cache modules tree=100 built downloads=0
	cache=$(go env GOCACHE 2>/dev/null) && modules=$(go env GOMODCACHE 2>/dev/null) || return 0 # there is no Go, which was said
	[ -x bin/argosy-controlplane ] || tree=900
	[ -d "$modules/k8s.io/kubernetes@$(sed -n 's|^\tk8s.io/kubernetes ||p' cluster/go.mod)" ] || downloads=4500
	built=$(du -skc "$cache"/[0-9a-f]0 2>/dev/null | awk 'END {print int($1 * 16 / 1024)}') # it spreads its files evenly over 256 folders
	local -A needs=() free=()
	disk() { # FOLDER MIB
		local path=$1 left mount
		until [ -d "$path" ]; do path=$(dirname "$path"); done
		read -r left mount < <(df -Pk "$path" | awk 'NR == 2 {$1 = $2 = $3 = $5 = ""; print}')
		needs[$mount]=$((${needs[$mount]:-0} + $2)) free[$mount]=$((left / 1024))
	}
	disk "$cache" $((built < 5000 ? 5000 - built : 100))
	disk "$modules" $downloads
	disk "$PWD" $tree
	[ "$goal" != run ] || disk "${ARGOSY_HOME:-${XDG_DATA_HOME:-$HOME/.local/share}/argosy}" 500
	for mount in "${!needs[@]}"; do
		[ "${free[$mount]}" -ge "${needs[$mount]}" ] || error "$(size "${free[$mount]}") are free on $mount, where $(size "${needs[$mount]}") will be written:" \
			"make room, or put Go's caches on another disk (GOCACHE=FOLDER GOMODCACHE=FOLDER make $goal)"
	done
}

# check_port finds out whether something listens where the server will: ADDRESS VARIABLE.
check_port() {
	local host=${1%:*} port=${1##*:}
	host=${host#[} host=${host%]}
	if [ "$port" != 0 ] && (exec 3<>"/dev/tcp/${host:-127.0.0.1}/$port") 2>/dev/null; then
		error "$1 is in use, by another Argosy or by something else: end it, or have a free port picked ($2=127.0.0.1:0 make run)"
	fi
}

check_system
check_toolchain
check_memory
check_disk
if [ "$goal" != build ]; then
	check_namespaces
	build/packages.sh "$goal" look || errors=$((errors + 1))
fi
if [ "$goal" = run ]; then
	check_port "${ARGOSY_HTTP:-127.0.0.1:8888}" ARGOSY_HTTP
	check_port "${ARGOSY_GRPC:-127.0.0.1:8887}" ARGOSY_GRPC
fi
[ "$errors" -eq 0 ]
