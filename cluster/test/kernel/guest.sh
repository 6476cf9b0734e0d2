# What TestOnAnotherKernel looks at, run as root by vm.sh. Each part begins with a line "== NAME" and ends with "== exit CODE".
part() {
	echo "== $1"
	shift
	"$@" 2>&1
	echo "== exit $?"
}
as_ann() { su ann -c "$*"; }
doctor='/argosy-cluster doctor --home /run/cluster'

part 'root: limits' /cgroup.test -test.v -test.run '^TestKernel'
part 'root: doctor' $doctor
part 'not delegated: doctor' as_ann $doctor

cd /sys/fs/cgroup
echo "+cpu +memory" >cgroup.subtree_control
mkdir delegated
chown 1000:1000 delegated delegated/cgroup.procs delegated/cgroup.subtree_control
echo $$ >delegated/cgroup.procs
part 'delegated: limits' as_ann /cgroup.test -test.v -test.run "'^TestKernel\$'"
part 'delegated: doctor' as_ann $doctor

echo 0 >/proc/sys/kernel/unprivileged_userns_clone
part "debian's switch: doctor" as_ann $doctor
part "debian's switch: up" as_ann /argosy-cluster up --home /run/cluster
echo 1 >/proc/sys/kernel/unprivileged_userns_clone
echo 0 >/proc/sys/user/max_user_namespaces
part 'no user namespaces: doctor' as_ann $doctor
