package sandbox

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSysctlNamespaces(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][2]string{
		"net.core.somaxconn":                {"net/core/somaxconn", "net"},
		"net/ipv4/conf/eth0.100/forwarding": {"net/ipv4/conf/eth0.100/forwarding", "net"},
		"kernel.shmmax":                     {"kernel/shmmax", "ipc"},
		"kernel.msgmnb":                     {"kernel/msgmnb", "ipc"},
		"kernel.sem":                        {"kernel/sem", "ipc"},
		"fs.mqueue.msg_max":                 {"fs/mqueue/msg_max", "ipc"},
		"kernel.core_pattern":               {"kernel/core_pattern", ""},
		"net/../kernel/core_pattern":        {"kernel/core_pattern", ""},
		"net/core/../../../self/mem":        {"self/mem", ""},
		"kernel.semaphore":                  {"kernel/semaphore", ""},
		"vm.swappiness":                     {"vm/swappiness", ""},
		"fs.file-max":                       {"fs/file-max", ""},
	} {
		file := sysctlFile(name)
		require.Equal(t, want, [2]string{file, sysctlNamespace(file)}, name)
	}
}
