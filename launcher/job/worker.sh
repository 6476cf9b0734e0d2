# Process 1 ignores each signal that it does not handle, as sshd does while it starts: so this shell stays process 1.
trap 'exit 143' TERM INT
set -e
own=/tmp/.argosy-sshd
mkdir -p "$own" /run/sshd /var/run/sshd
chmod 700 "$own"
# A session of sshd starts with an empty environment; the ranks are to have that of the container.
export -p >"$own/environment"
cat >"$own/session" <<'END'
. /tmp/.argosy-sshd/environment
cd "$PWD" 2>/dev/null || cd /
if [ -z "$SSH_ORIGINAL_COMMAND" ]; then exec "${SHELL:-/bin/sh}"; fi
exec "${SHELL:-/bin/sh}" -c "$SSH_ORIGINAL_COMMAND"
END
# Without a port given, the one of the image's sshd_config, which its ssh_config knows of.
set -- ${1:+-p "$1"} -De -o StrictModes=no -o PermitRootLogin=without-password -o "ForceCommand=/bin/sh $own/session"
usable=
for key in /etc/ssh/ssh_host_*_key; do
  if [ -r "$key" ]; then usable=yes; fi
done
if [ -z "$usable" ]; then
  rm -f "$own/host_key" "$own/host_key.pub"
  ssh-keygen -q -t ecdsa -N '' -f "$own/host_key"
  set -- "$@" -h "$own/host_key"
fi
daemon=
stopped=
trap 'stopped=yes; if [ -n "$daemon" ]; then kill -TERM "$daemon" || :; fi' TERM INT
/usr/sbin/sshd "$@" &
daemon=$!
if [ -n "$stopped" ]; then kill -TERM "$daemon" || :; fi # by a signal from before the daemon was known
while kill -0 "$daemon" 2>/dev/null; do
  code=0
  wait "$daemon" || code=$? # a signal ends the wait as well
done
exit "$code"
