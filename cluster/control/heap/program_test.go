package heap

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMappings(t *testing.T) {
	t.Parallel()
	const smaps = `00400000-00401000 r-xp 00000000 08:01 12 /opt/a program
Size:                  4 kB
Rss:                   4 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me sd
00500000-00502000 r--p 00100000 08:01 12 /opt/a program
Rss:                   8 kB
Anonymous:             4 kB
7f0000000000-7f0000001000 rw-p 00000000 00:00 0
no amount
Rss:                   x kB
`
	require.Equal(t, []mapping{
		{start: 0x400000, end: 0x401000, rights: "r-xp", path: "/opt/a program", resident: 4},
		{start: 0x500000, end: 0x502000, rights: "r--p", path: "/opt/a program", resident: 8, changed: true},
		{start: 0x7f0000000000, end: 0x7f0000001000, rights: "rw-p", changed: true},
	}, mappings([]byte(smaps)))
	require.Empty(t, mappings([]byte("Rss: 4 kB\nxyz-1 r-xp 0 0 0\n")))
}

// The program goes on, and holds less of itself.
func TestForgetProgram(t *testing.T) {
	t.Parallel()
	program, err := os.Readlink("/proc/self/exe")
	require.NoError(t, err)
	unchanged := func() (parts []mapping, kB int) {
		smaps, err := os.ReadFile("/proc/self/smaps")
		require.NoError(t, err)
		for _, m := range mappings(smaps) {
			if m.path == program && !m.changed {
				parts, kB = append(parts, m), kB+m.resident
			}
		}
		return parts, kB
	}

	memory, err := os.Open("/proc/self/mem")
	require.NoError(t, err)
	defer func() { _ = memory.Close() }()
	parts, _ := unchanged()
	for _, m := range parts { // read, so that all of it is there to be forgotten
		_, err := memory.ReadAt(make([]byte, m.end-m.start), int64(m.start))
		require.NoError(t, err)
	}
	_, before := unchanged()
	require.NoError(t, forgetProgram())
	_, after := unchanged()
	require.Less(t, after, before)
}
