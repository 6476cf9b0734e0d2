# There is no dollar before a dollar or a parenthesis in here: Kubernetes would take them for its own.
# The workers start together with this pod, since a gang scheduler counts them all, and may need longer:
# their images, their init containers, on a cluster without such a scheduler their turn. mpirun does not wait.
reach() {
  began=`date +%s`
  said=
  until refusal=`${OMPI_MCA_plm_rsh_agent:-ssh} -o BatchMode=yes -o ConnectTimeout=5 "$1" true 2>&1 </dev/null`; do
    now=`date +%s`
    waited=`expr "$now" - "$began"`
    if [ "$waited" -ge "$2" ]; then
      echo "argosy: the worker $1 did not answer within $2 s, giving up: $refusal" >&2
      return 1
    fi
    if [ -z "$said" ] && [ "$waited" -ge 20 ]; then
      echo "argosy: waiting for the worker $1: $refusal" >&2
      said=yes
    fi
    sleep 0.1
  done
}
hosts=${PRTE_MCA_prte_default_hostfile:-/etc/mpi/hostfile}
command=$1 patience=${2:-3600} shell=${3:-sh}
if [ "$#" -gt 3 ]; then shift 3; else set --; fi # what measures the bandwidth, if it is to be known
if command -v ${OMPI_MCA_plm_rsh_agent:-ssh} >/dev/null 2>&1 && [ -r "$hosts" ]; then
  trap 'exit 143' TERM INT
  probes=
  while read -r host _; do
    if [ -n "$host" ]; then
      reach "${host%%:*}" "$patience" &
      probes="$probes $!"
    fi
  done <"$hosts"
  for probe in $probes; do
    wait "$probe" || exit 1
  done
  if version=`mpirun --version 2>/dev/null | head -n 1` && [ -n "$version" ]; then
    echo "argosy: $version"
  fi
  if [ "$#" -gt 0 ]; then
    "$@" &
    wait "$!"
  fi
  # Open MPI 5 has no variables to tag output and to print where ranks run, only options. They go first, unless the user gives some.
  case $version in *"(Open MPI) "[5-9].* | *"(Open MPI) "[1-9][0-9].*)
    tools=${TMPDIR:-/tmp}/.argosy-mpi
    mkdir -p "$tools"
    for name in mpirun mpiexec prterun; do
      tool=`command -v "$name"` || continue
      cat >"$tools/$name" <<END
#!/bin/sh
for option; do
  case \$option in --display* | --output* | --version | -V | --help | -h) exec "$tool" "\$@" ;; esac
done
exec "$tool" --display map --output tag "\$@"
END
      chmod 755 "$tools/$name"
    done
    PATH=$tools:$PATH
    export PATH
    ;;
  esac
fi
# As process 1 this shell gets the signals, and the command and what it started must have them.
child=
stopped=
stop() {
  stopped=yes
  for stat in /proc/[0-9]*/stat; do
    read -r pid _ _ parent _ <"$stat" || continue
    if [ "$parent" = "$child" ]; then kill -TERM "$pid"; fi
  done 2>/dev/null
  if [ -n "$child" ]; then kill -TERM "$child" 2>/dev/null; fi
}
trap stop TERM INT
"$shell" -c "$command" &
child=$!
if [ -n "$stopped" ]; then stop; fi # by a signal from before the child was known
wait "$child"
code=$?
while kill -0 "$child" 2>/dev/null; do
  wait "$child"
  code=$?
done
exit "$code"
