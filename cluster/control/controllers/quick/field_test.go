package quick

import (
	"testing"

	"github.com/stretchr/testify/require"
)

type owner struct {
	_     int64
	count int
}

func TestField(t *testing.T) {
	t.Parallel()
	o := &owner{count: 3}
	count, err := field[owner, int]("count")
	require.NoError(t, err)
	require.Equal(t, 3, *count(o))
	*count(o) = 4
	require.Equal(t, 4, o.count)

	_, err = field[owner, string]("count")
	require.EqualError(t, err, "this version of Argo has no field count of type string in quick.owner")
	_, err = field[owner, int]("gone")
	require.EqualError(t, err, "this version of Argo has no field gone of type int in quick.owner")
}
