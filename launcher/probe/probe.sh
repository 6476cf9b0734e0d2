# Measures the bandwidth between the ranks before the job's command runs: $1 ranks, with the program in Python $2 or the one in C $3.
# Each line begins with words that no metric looks at. Whatever happens here, the job goes on.
unset OMPI_MCA_rmaps_base_display_map OMPI_MCA_orte_tag_output
limit=`command -v timeout` && limit="$limit 120"
say() { echo "argosy: probe: $*"; }
launch() { $limit mpirun "$@" 2>&1 </dev/null; }
measure() {
  say "all-reduce of $1"
  shift
  launch -np "$ranks" "$@" | while IFS= read -r line; do say "$line"; done
}
ranks=$1 python=$2 c=$3
case `mpirun --version 2>/dev/null | head -n 1` in
*"Open MPI"*) ;;
*)
  say "no bandwidth: it is measured with Open MPI"
  exit
  ;;
esac
if [ "$ranks" -lt 2 ]; then
  say "no bandwidth: one rank has no other to exchange data with"
  exit
fi
has=`launch -np 1 sh -c '
  if [ -e /dev/nvidiactl ] && command -v all_reduce_perf >/dev/null; then echo has nccl
  elif python3 -c "import mpi4py"; then echo has python3
  elif python -c "import mpi4py"; then echo has python
  elif echo "#include <mpi.h>" | mpicc -E -x c - >/dev/null; then echo has mpicc
  fi 2>/dev/null' | sed -n 's/^has //p'`
case $has in
nccl) measure nccl-tests all_reduce_perf -b 1M -e 128M -f 2 -g 1 -n 20 ;;
python*) measure mpi4py "$has" -c "$python" ;;
mpicc) measure "MPI in C" sh -c 'p=${TMPDIR:-/tmp}/.argosy-probe-$$; echo "$0" | mpicc -O2 -o "$p" -x c - && exec "$p"' "$c" ;;
*) say "no bandwidth: the image has neither nccl-tests with a GPU, mpi4py nor mpicc" ;;
esac
