package job

import (
	_ "embed"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// launcherScript runs the user's command, its first argument, once all workers answer. Its second is for how many seconds it waits for
// that, its third the shell, its fourth the number of ranks on a worker, and its fifth, words of a shell, what each worker must have. What
// follows is a command that measures the bandwidth first.
//
//go:embed launcher.sh
var launcherScript string

// workerScript starts sshd so that a session has the container's environment.
//
//go:embed worker.sh
var workerScript string

const (
	hostfile = "/etc/mpi/hostfile"
	// Workers are new machines with new keys every time: there is no known host to compare with.
	sshCommand = "ssh -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"
	// displayMap makes mpirun print which rank runs where.
	displayMap = "OMPI_MCA_rmaps_base_display_map"
)

// openMPIEnv is how mpirun finds its hosts and speaks to them. Open MPI 5 reads
// PRTE_MCA_* and silently ignores the OMPI_MCA_orte_* that the operator sets:
// without these it would run every rank in the launcher's pod.
func openMPIEnv(s *Spec, port int) []corev1.EnvVar {
	ssh := sshCommand
	if port > 0 {
		ssh += " -p " + strconv.Itoa(port)
	}
	return []corev1.EnvVar{
		{Name: "OMPI_ALLOW_RUN_AS_ROOT", Value: "1"},
		{Name: "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", Value: "1"},
		{Name: "PRTE_ALLOW_RUN_AS_ROOT", Value: "1"},
		{Name: "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", Value: "1"},
		// Each worker believes it has the machine for itself and binds its first rank to
		// core 0: two workers on one machine would share that core.
		{Name: "OMPI_MCA_hwloc_base_binding_policy", Value: "none"},
		{Name: "PRTE_MCA_hwloc_default_binding_policy", Value: "none"},
		// Tells the ranks' lines apart. Open MPI 5 has a flag for it, and no variable.
		{Name: "OMPI_MCA_orte_tag_output", Value: "1"},
		{Name: displayMap, Value: "1"},
		// One rank may not read another's memory in a container (seccomp, user namespaces).
		{Name: "OMPI_MCA_btl_vader_single_copy_mechanism", Value: "none"},
		{Name: "OMPI_MCA_plm_rsh_agent", Value: ssh},
		{Name: "PRTE_MCA_plm_ssh_agent", Value: ssh},
		{Name: "PRTE_MCA_plm_ssh_args", Value: "-o ConnectionAttempts=10"},
		{Name: "PRTE_MCA_prte_default_hostfile", Value: hostfile},
		{Name: "PRTE_MCA_prte_set_default_slots", Value: strconv.Itoa(s.Slots)},
		{Name: "PRTE_MCA_prte_keep_fqdn_hostnames", Value: "true"},
	}
}

// wantsMap tells whether the user asked mpirun for the job map, so that it is to
// be shown and not only read.
func wantsMap(s *Spec) bool {
	for _, e := range s.Env {
		if e.Name == displayMap {
			return true
		}
	}
	for _, flag := range []string{"display-map", "display-devel-map", "rmaps_base_display_map", "--display"} {
		if strings.Contains(s.Roles[0].Command, flag) {
			return true
		}
	}
	return false
}
