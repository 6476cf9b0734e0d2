package kubelet

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSysctlNamespaces(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"net.core.somaxconn": "net", "net.ipv4.tcp_syncookies": "net", "kernel.shmmax": "ipc", "kernel.msgmnb": "ipc", "kernel.sem": "ipc", "fs.mqueue.msg_max": "ipc",
		"kernel.core_pattern": "", "vm.swappiness": "", "kernel.semaphore": "", "fs.file-max": "", "net": "",
	} {
		require.Equal(t, want, sysctlNamespace(name), name)
	}
}
