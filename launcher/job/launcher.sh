# There is no dollar before a dollar or a parenthesis in here: Kubernetes would take them for its own.
# What the step asked for is looked for in a session of the worker's sshd, since that is what mpirun starts ranks in. An argument with a
# slash is a mount, any other a variable.
# It is one line, for shells that are not of POSIX. The kernel writes a space in a path as \040.
look='for tool in env grep cut readlink; do command -v $tool >/dev/null || exit 0; done;'
look="$look"' for what; do case "$what" in'
look="$look"' /*) at=`readlink -f "$what"`;'
look="$look"' cut -d" " -f5 /proc/self/mountinfo | while read -r has; do printf "%b\n" "$has"; done | grep -qxF "$at" || echo "argosy-lacks the mount $what" ;;'
look="$look"' *) env | grep -q "^$what=" || echo "argosy-lacks the variable $what" ;; esac; done'
# The workers start together with this pod, since a gang scheduler counts them all, and may need longer:
# their images, their init containers, on a cluster without such a scheduler their turn. mpirun does not wait.
reach() {
  began=`date +%s`
  said=
  until refusal=`${OMPI_MCA_plm_rsh_agent:-ssh} -o BatchMode=yes -o ConnectTimeout=5 "$1" "$ask" 2>&1 </dev/null`; do
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
  case $refusal in *argosy-lacks*) ;; *) return 0 ;; esac
  missing=`printf '%s\n' "$refusal" | sed -n 's/^argosy-lacks //p' | tr '\n' ',' | sed 's/,$//; s/,/, /g'`
  echo "argosy: the worker $1 ($3) lacks what the step asked for: $missing. Look for a webhook that changes its pod and a start-up file of its shell; shells drop names with a dot or a dash" >&2
  return 1
}
# ranks names those of a worker by its number, as mpirun places them unless it is told otherwise.
ranks() {
  first=`expr "$1" \* "$2"` || :
  last=`expr "$first" + "$2" - 1` || :
  if [ "$first" -eq "$last" ]; then echo "rank $first"; else echo "ranks $first-$last"; fi
}
# wrap puts programs in front of those that have options alone, and no variables, to tag output and to tell where ranks run. The options
# go first, unless the user gives some.
wrap() {
  tools=${TMPDIR:-/tmp}/.argosy-mpi
  for name in mpirun mpiexec prterun mpirun.mpich mpiexec.mpich mpiexec.hydra; do
    tool=`command -v "$name"` || continue
    case `"$tool" --version 2>/dev/null | head -n 1` in
    *"(Open MPI) "[5-9].* | *"(Open MPI) "[1-9][0-9].* | prterun*) wrapper=openmpi ;;
    HYDRA*) wrapper=hydra ;;
    *) continue ;;
    esac
    mkdir -p "$tools"
    $wrapper >"$tools/$name"
    chmod 755 "$tools/$name"
  done
  if [ -d "$tools" ]; then
    PATH=$tools:$PATH
    export PATH
  fi
}
openmpi() {
  cat <<END
#!/bin/sh
for option; do
  case \$option in --display* | --output* | --version | -V | --help | -h) exec "$tool" "\$@" ;; esac
done
exec "$tool" --display map --output tag "\$@"
END
}
# hydra is for MPICH. Its mpirun finds hosts and ssh by variables of its own; the workers do not know the name of this pod, but its address.
# It tells where ranks are to run before it starts them with the launcher "manual", which starts nothing and waits.
hydra() {
  sed 's/[[:space:]]*slots=/:/' "$hosts" >"$tools/hostfile"
  printf '#!/bin/sh\nexec %s "$@"\n' "${OMPI_MCA_plm_rsh_agent:-ssh}" >"$tools/hydra-ssh"
  chmod 755 "$tools/hydra-ssh"
  HYDRA_HOST_FILE=${HYDRA_HOST_FILE:-$tools/hostfile}
  HYDRA_LAUNCHER_EXEC=${HYDRA_LAUNCHER_EXEC:-$tools/hydra-ssh}
  export HYDRA_HOST_FILE HYDRA_LAUNCHER_EXEC
  address=`hostname -i 2>/dev/null | cut -d' ' -f1`
  case $address in '' | 127.*) address= ;; *) address="-localhost $address" ;; esac
  printf '#!/bin/sh\ntool="%s" name=%s address="%s"\n' "$tool" "$name" "$address"
  cat <<'END'
for option; do
  case $option in -prepend* | -verbose | -info | -launcher | -bootstrap | -version | --version | -help | --help) exec "$tool" $address "$@" ;; esac
done
placed() {
  pid= waits=
  while read -r line; do
    case $line in
    pid\ *) pid=${line#* } ;;
    \[*\]\ proxy:\ *) host=${line#*proxy: } ;;
    Exec\ list:\ *)
      ranks=0
      for more in `echo "$line" | grep -o '([0-9]* processes)' | tr -dc '0-9\n'`; do ranks=`expr $ranks + $more`; done
      echo "$ranks on ${host%% *}" ;;
    HYDRA_LAUNCH:*) waits=yes ;;
    esac
    if [ -n "$waits" ] && [ -n "$pid" ]; then
      kill -9 "$pid"
      pid=
    fi
  done
}
plan=`{ "$tool" -verbose -launcher manual "$@" </dev/null & echo "pid $!"; wait; } 2>/dev/null | placed | tr '\n' ',' | sed 's/,$//; s/,/, /g'`
if [ -n "$plan" ]; then echo "argosy: $name places ranks: $plan"; fi
# A rank of MPICH before 4.2 that has closed its connections waits for the others without answering them, and one that asks whether all
# came by TCP then waits for ever (https://github.com/pmodels/mpich/pull/6596).
case "$plan `"$tool" --version 2>/dev/null`" in
*", "*Version:\ *\ 4.[01].*device=ch4:ucx*)
  echo "argosy: ranks on several workers may hang in MPI_Finalize: this MPICH is older than 4.2 and uses UCX. Use MPICH 4.2, or set a silence timeout" ;;
esac
exec "$tool" $address -prepend-pattern '[1,%r]<stdout>:' "$@"
END
}
hosts=${PRTE_MCA_prte_default_hostfile:-/etc/mpi/hostfile}
command=$1 patience=${2:-3600} shell=${3:-sh} slots=${4:-1} ask=true
if [ -n "$5" ]; then ask="sh -c '$look' sh $5"; fi
if [ "$#" -gt 5 ]; then shift 5; else set --; fi # what measures the bandwidth, if it is to be known
if command -v ${OMPI_MCA_plm_rsh_agent:-ssh} >/dev/null 2>&1 && [ -r "$hosts" ]; then
  trap 'exit 143' TERM INT
  probes=
  worker=0
  while read -r host _; do
    if [ -n "$host" ]; then
      reach "${host%%:*}" "$patience" "`ranks "$worker" "$slots"`" &
      probes="$probes $!"
      worker=`expr "$worker" + 1`
    fi
  done <"$hosts"
  for probe in $probes; do
    wait "$probe" || exit 1
  done
  if version=`mpirun --version 2>/dev/null | head -n 2` && [ -n "$version" ]; then
    case $version in HYDRA*) version="mpirun (Hydra) ${version##* }" ;; esac
    echo "argosy: $version" | head -n 1
  fi
  if [ "$#" -gt 0 ]; then
    "$@" &
    wait "$!"
  fi
  wrap
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
