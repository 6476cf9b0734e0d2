# Prints the stacks of the ranks in this container, of all its programs where none has a rank, and adds them to what each prints.
folder=/tmp/.argosy-stacks
programs= parents=
own=" $$ "
for status in /proc/[0-9]*/status; do
  pid=${status#/proc/} pid=${pid%/status}
  parent=`sed -n 's/^PPid:[^0-9]*//p' "$status" 2>/dev/null` || continue
  case $own in *" $pid "* | *" $parent "*) continue ;; esac
  [ -n "`tr -d '\0' 2>/dev/null <"/proc/$pid/cmdline"`" ] || continue
  programs="$programs $pid:$parent"
done

# variable NAME of process $2, empty where it has none.
variable() { tr '\0' '\n' 2>/dev/null <"/proc/$2/environ" | sed -n "s/^$1=//p" | head -n 1; }

# started: those that mpirun or torchrun started; others: all
started= others=
for program in $programs; do
  pid=${program%:*}
  rank=
  for name in OMPI_COMM_WORLD_RANK PMI_RANK; do
    [ -n "$rank" ] || rank=`variable $name $pid`
  done
  if [ -z "$rank" ] && [ -n "`variable LOCAL_RANK $pid`" ]; then rank=`variable RANK $pid`; fi
  if [ -n "$rank" ]; then started="$started $program:$rank"; else others="$others $program:`variable RANK $pid`"; fi
done
all=${started:-$others}

# python tells whether a process is a program in Python that can be asked.
python() { ls -l "/proc/$1/fd" 2>/dev/null | grep -q "$folder/$1\$"; }

asked= plain=
for entry in $all; do
  pid=${entry%%:*}
  if python "$pid"; then asked="$asked $entry"; else plain="$plain $entry"; fi
done

# chosen: of programs in Python the ones that no other of them started; else those that started no others.
chosen=
if [ -n "$asked" ]; then
  for entry in $asked; do
    rest=${entry#*:} parent=${entry#*:} parent=${parent%%:*}
    case $asked in *" $parent:"*) ;; *) chosen="$chosen $entry" ;; esac
  done
else
  for entry in $plain; do
    pid=${entry%%:*}
    case $programs in *":$pid "* | *":$pid") ;; *) chosen="$chosen $entry" ;; esac
  done
fi

limit() { if command -v timeout >/dev/null 2>&1; then timeout 20 "$@"; else "$@"; fi; }

# ask has a program in Python write its stacks, and waits until they are complete.
ask() {
  kill -USR2 "$1" || return
  size=0 tries=0
  while [ "$tries" -lt 50 ]; do
    sleep 0.1
    now=`wc -c <"$folder/$1"`
    if [ "$now" -gt 0 ] && [ "$now" = "$size" ]; then break; fi
    size=$now tries=`expr "$tries" + 1`
  done
  cd "/proc/$1/cwd" 2>/dev/null
  head -c 65536 "$folder/$1" | while IFS= read -r line; do
    printf '%s\n' "$line"
    case $line in
    */site-packages/* | */dist-packages/* | */lib/python*) ;;
    *'File "'*'", line '*' in '*)
      file=${line#*\"} file=${file%%\"*}
      number=${line##*, line } number=${number%% *}
      sed -n "$number{s/^[[:space:]]*/    /;p;q;}" "$file" 2>/dev/null || :
      ;;
    esac
  done
}

# stacks prints those of a process by the first means there is.
stacks() {
  how=
  if python "$1"; then
    text=`ask "$1"`
    if [ -n "$text" ]; then how=faulthandler; fi
  fi
  if [ -z "$how" ] && command -v py-spy >/dev/null 2>&1; then
    text=`limit py-spy dump --pid "$1" 2>&1` && how=py-spy
  fi
  if [ -z "$how" ] && command -v gdb >/dev/null 2>&1; then
    text=`limit gdb -p "$1" -batch -nx -ex 'thread apply all backtrace' 2>/dev/null | grep -e '^Thread ' -e '^#'` && how=gdb
  fi
  if [ -z "$how" ]; then
    how=none text="sleeps in `cat "/proc/$1/wchan" 2>/dev/null`"
  fi
}

for entry in $chosen; do
  pid=${entry%%:*} rank=${entry##*:}
  stacks "$pid"
  name=`tr '\0' ' ' <"/proc/$pid/cmdline" | head -c 200 | tr '\n' ' '`
  printf '=== rank=%s pid=%s how=%s %s\n%s\n' "$rank" "$pid" "$how" "$name" "$text"
  # The process itself may be the reason why nobody takes what it prints.
  printf 'argosy: stacks of process %s (%s)\n%s\n' "$pid" "$how" "$text" 2>/dev/null >>"/proc/$pid/fd/2" </dev/null &
done
# What is still not taken after a second never is.
sleep 1
kill `jobs -p` 2>/dev/null
exit 0
