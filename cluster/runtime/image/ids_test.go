package image

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIDs(t *testing.T) {
	t.Parallel()
	m, err := readIDs("0 0 4294967295\n", "0 0 4294967295\n", 0)
	require.NoError(t, err)
	require.True(t, m.trusted)
	m, err = readIDs("         0       1000          1\n", "0 1000 1\n", 0)
	require.NoError(t, err)
	require.Nil(t, m.owner)
	m, err = readIDs("0 1000 1\n1 100000 65536\n", "0 1000 1\n1 100000 1000\n", 0)
	require.NoError(t, err)
	require.False(t, m.trusted)
	uid, gid := m.owner(33, 33)
	require.Equal(t, []int{33, 33}, []int{uid, gid})
	uid, gid = m.owner(70000, 70000)
	require.Equal(t, []int{65534, 0}, []int{uid, gid})
}
