package test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// execsEnv says how many commands are run in pods that try to catch them; 10,000 is what was shown once.
const execsEnv = "ARGOSY_TEST_EXECS"

// A command that joins a container (kubectl exec, probes, hooks) is seen by the container's processes before it runs.
// Those catch it with no more capabilities than the container's.
func (c *cluster) testCommands(t *testing.T) {
	execs := 120
	if n, err := strconv.Atoi(os.Getenv(execsEnv)); err == nil {
		execs = n
	}
	box := filepath.Join(c.home.Shared(), "box")
	build := exec.Command("go", "build", "-o", box, "./box")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	for name, added := range map[string][]corev1.Capability{"catcher": nil, "tracing-catcher": {"SYS_PTRACE"}} {
		c.createPod(t, podOf(name, "exec "+box+" catch", func(s *corev1.PodSpec) {
			s.Containers[0].SecurityContext = &corev1.SecurityContext{Capabilities: &corev1.Capabilities{Add: added}}
		}))
		c.awaitLog(t, name, "ready")
		var left atomic.Int64
		left.Store(int64(execs / 2))
		t.Run(name, func(t *testing.T) {
			for i := range 4 {
				t.Run(fmt.Sprint("caller ", i), func(t *testing.T) {
					t.Parallel()
					for left.Add(-1) >= 0 {
						code, _, said := c.exec(t, name, nil, "true")
						require.Zero(t, code, said)
					}
				})
			}
		})
		// Such a script has the kernel run the program again that sets up commands, this time as the container's own.
		_, _, said := c.exec(t, name, nil, "sh", "-c", "printf '#!/proc/self/exe\\n' > /tmp/again && chmod 755 /tmp/again")
		require.Empty(t, said)
		for range 20 {
			_, _, _ = c.exec(t, name, nil, "/tmp/again") // it refuses to run so
		}
		if added != nil { // without, a machine may forbid it
			_, _, _ = c.exec(t, name, nil, "sh", "-c", "sleep 60 > /dev/null 2>&1 &")
			c.awaitLog(t, name, "caught the first")
		}
		code, _, said := c.exec(t, name, nil, "kill", "-TERM", "1")
		require.Contains(t, []int{0, 137}, code, said) // the container may be over, and the kernel have ended the command, before the command has ended
		c.awaitLog(t, name, "caught in all")
		require.NotContains(t, c.log(t, name, "main"), "capabilities")
		require.NotContains(t, c.log(t, name, "main"), "can be written")
		t.Logf("%d commands: %s", execs/2, c.log(t, name, "main"))
	}
}
