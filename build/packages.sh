#!/usr/bin/env bash
# Installs the Debian packages that are missing: build/packages.sh run|test [look]
# `run` is what the demo's pods use (the host is their image); `test` adds browsers, kubectl, PostgreSQL, PyTorch and Jupyter.
# `look` only says what is missing and cannot be installed here. Ends with 1 when the demo or the tests cannot do without it.
set -euo pipefail
goal=${1:-run}
root=${CHECK_ROOT:-} # of check.sh

declare -A needs=(            # package -> a file or command that shows it is there
	[openmpi-bin]=mpirun [openssh-server]=sshd [openssh-client]=ssh-keygen [iproute2]=ip [uidmap]=newuidmap
	[python3-mpi4py]=py:mpi4py [python3-numpy]=py:numpy [python-is-python3]=python
)
if [ "$goal" = test ]; then
	needs[chromium]=chromium
	needs[fonts-wqy-microhei]=font:wqy-microhei # the pages in Chinese, and pictures of them
	needs[firefox-esr]=firefox-esr # the second browser
	needs[kubernetes-client]=kubectl
	needs[python3-torch]=py:torch # a PyTorchJob that really trains
	needs[postgresql]=pg:initdb   # the store's second database; tests start their own server
	needs[mpich]=mpirun.mpich     # beside Open MPI, which stays mpirun
	needs[rsync]=rsync            # code of jobs
	needs[bind9-dnsutils]=nslookup # what users ask the pods' name server with
	[ "$(uname -m)" != x86_64 ] || needs[qemu-system-x86]=qemu-system-x86_64 # another kernel than the machine's
	needs[jupyter-nbconvert]=py:nbconvert # the sample notebook, with the next two
	needs[jupyter-client]=py:jupyter_client
	needs[python3-ipykernel]=py:ipykernel
	[ "${2:-}" = look ] || "$(dirname "$0")/../cluster/test/kernel/vm.sh" fetch || true # the test says what it lacks
fi

# What pods see: the system's own folders, not the caller's PATH.
PATH=$root/usr/local/sbin:$root/usr/local/bin:$root/usr/sbin:$root/usr/bin:$root/sbin:$root/bin

present() {
	case $1 in
	pg:*) compgen -G "$root/usr/lib/postgresql/*/bin/${1#pg:}" >/dev/null ;; # not on the PATH, as each version has its own
	font:*) compgen -G "$root/usr/share/fonts/truetype/*/${1#font:}.*" >/dev/null ;;
	py:*) "$root/usr/bin/python3" -c "import importlib.util as i, sys; sys.exit(not i.find_spec('${1#py:}'))" 2>/dev/null ;;
	*) command -v "$1" >/dev/null ;;
	esac
}

missing=() vital=
for package in "${!needs[@]}"; do
	present "${needs[$package]}" && continue
	missing+=("$package")
	case $package in
	uidmap | iproute2) ;; # pods go without: `argosy doctor` says how
	fonts-wqy-microhei) ;; # without it a browser draws boxes
	*) vital=yes ;;
	esac
done
[ ${#missing[@]} -eq 0 ] && exit 0

# by_hand says why the packages were not installed, and ends.
by_hand() {
	local names="install ${missing[*]} (Debian's names)"
	if [ -n "$vital" ]; then
		echo "error: make $goal needs packages that $1: $names" >&2
		exit 1
	fi
	echo "warning: make $goal uses packages that $1: $names" >&2
	exit 0
}
as_root=()
if [ "$(id -u)" -ne 0 ]; then
	as_root=(sudo)
	# Without a terminal sudo must not ask for a password.
	[ -t 0 ] || as_root=(sudo -n)
fi
command -v apt-get >/dev/null || by_hand "are missing, and there is no apt-get to install them with"
[ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null || by_hand "are missing, and there is no sudo to install them with"
[ "${2:-}" != look ] || exit 0

had_sshd=$(PATH=$PATH command -v sshd || true)
had_postgresql=$(present pg:initdb && echo yes || true)
echo "installing system packages: ${missing[*]}"
if ! { "${as_root[@]}" apt-get update -qq &&
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; }; then
	by_hand "apt-get could not install"
fi
# Pods start their own sshd; the machine's must not begin to listen because of us.
if [ -z "$had_sshd" ] && [ -d /run/systemd/system ]; then
	"${as_root[@]}" systemctl disable --now ssh.service ssh.socket 2>/dev/null || true
fi
# Neither must a database server: tests only need its programs.
if [ -z "$had_postgresql" ] && [ -d /run/systemd/system ] && present pg:initdb; then
	"${as_root[@]}" systemctl disable --now postgresql.service 2>/dev/null || true
fi
