package machine

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func file(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }

func TestLook(t *testing.T) {
	t.Parallel()
	m, err := Look(t.TempDir())
	require.NoError(t, err)
	require.Positive(t, m.MilliCPU)
	require.Greater(t, m.Memory, int64(64<<20))
	require.Positive(t, m.Disk)
}

func TestTotalMemory(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "meminfo")
	for content, want := range map[string]int64{
		"MemTotal:       24597540 kB\nMemFree: 1 kB\n": 24597540 << 10,
		"MemFree: 1 kB\n":       0,
		"MemTotal: many kB\n":   0,
		"MemTotal:\nMemFree: 1": 0,
	} {
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		got, err := memory(path, "MemTotal")
		require.Equal(t, want, got)
		require.Equal(t, want == 0, err != nil, content)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files       fstest.MapFS
		cpu, memory int64
	}{
		"none": {},
		"version 2, the tightest group on the way up": {fstest.MapFS{
			"proc/self/cgroup":                               file("0::/user.slice/me.service\n"),
			"sys/fs/cgroup/cpu.max":                          file("max 100000\n"),
			"sys/fs/cgroup/user.slice/cpu.max":               file("150000 100000\n"),
			"sys/fs/cgroup/user.slice/memory.max":            file("max\n"),
			"sys/fs/cgroup/user.slice/me.service/cpu.max":    file("400000 100000\n"),
			"sys/fs/cgroup/user.slice/me.service/memory.max": file("1073741824\n"),
		}, 1500, 1 << 30},
		"version 1, in a container": {fstest.MapFS{
			"proc/self/cgroup":                                file("3:memory:/docker/abc\n"),
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us":              file("200000\n"),
			"sys/fs/cgroup/cpu/cpu.cfs_period_us":             file("100000\n"),
			"sys/fs/cgroup/memory/memory.limit_in_bytes":      file("2147483648\n"),
			"sys/fs/cgroup/memory/memory.soft_limit_in_bytes": file("1\n"),
		}, 2000, 2 << 30},
		"version 1, without limits": {fstest.MapFS{
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us":  file("-1\n"),
			"sys/fs/cgroup/cpu/cpu.cfs_period_us": file("100000\n"),
		}, 0, 0},
	} {
		cpu, memory := limits(c.files)
		require.Equal(t, c.cpu, cpu, name)
		require.Equal(t, c.memory, memory, name)
	}
}

// GPUs are numbered by bus and not by the number of their device file, and have the files that all of them need.
func TestGPUs(t *testing.T) {
	t.Parallel()
	require.Empty(t, gpus(fstest.MapFS{}))
	root := fstest.MapFS{
		"dev/nvidia0": file(""), "dev/nvidia1": file(""), "dev/nvidiactl": file(""), "dev/nvidia-uvm": file(""),
		"proc/driver/nvidia/gpus/0000:17:00.0/information": file("Model: \t\t NVIDIA H100\nGPU UUID: \t GPU-b1\nDevice Minor: \t 1\n"),
		"proc/driver/nvidia/gpus/0000:65:00.0/information": file("Model: \t\t NVIDIA H100\nGPU UUID: \t GPU-????????-????\nDevice Minor: \t 0\n"),
	}
	require.Equal(t, []GPU{
		{Index: 0, UUID: "GPU-b1", Devices: []string{"nvidia1", "nvidiactl", "nvidia-uvm"}},
		{Index: 1, Devices: []string{"nvidia0", "nvidiactl", "nvidia-uvm"}},
	}, gpus(root))
	require.Equal(t, []GPU{{Index: 0}, {Index: 1}}, Pretend(2))
}
