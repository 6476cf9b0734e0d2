# There is no dollar before a dollar or a parenthesis in here: Kubernetes would take them for its own.
# The names of the workers appear a moment after the workers are ready, and ssh does not wait for names.
if command -v getent >/dev/null 2>&1 && [ -r /etc/mpi/hostfile ]; then
  while read -r host _; do
    tries=0
    until [ -z "$host" ] || getent hosts "${host%%:*}" >/dev/null 2>&1; do
      tries=`expr "$tries" + 1`
      if [ "$tries" -gt 300 ]; then
        echo "argosy: the worker $host has no address after 60 s; trying all the same" >&2
        break
      fi
      sleep 0.2
    done
  done </etc/mpi/hostfile
fi
# As process 1 this shell gets the signals, and the command and what it started must have them.
child=
stop() {
  for stat in /proc/[0-9]*/stat; do
    read -r pid _ _ parent _ <"$stat" || continue
    if [ "$parent" = "$child" ]; then kill -TERM "$pid"; fi
  done 2>/dev/null
  if [ -n "$child" ]; then kill -TERM "$child" 2>/dev/null; fi
}
trap stop TERM INT
sh -c "$1" &
child=$!
wait "$child"
code=$?
while kill -0 "$child" 2>/dev/null; do
  wait "$child"
  code=$?
done
exit "$code"
