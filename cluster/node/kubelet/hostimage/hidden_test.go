package hostimage

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHomesAreHidden(t *testing.T) {
	t.Parallel()
	const passwd = `root:x:0:0:root:/root:/bin/bash
daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin
backup:x:34:34:backup:/backup:/usr/sbin/nologin
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
ann:x:1000:1000::/people/ann:/bin/bash
service:x:1001:1001::/:/bin/sh
other:x:1002:1002::/usr/lib/other:/bin/sh
broken line
`
	hidden := hiddenFromPods([]byte(passwd), "/shared/")
	require.Subset(t, hidden, []string{"/home", "/etc/shadow", "/root", "/people/ann", "/shared"})
	for _, shown := range []string{"/", "/usr/sbin", "/usr/lib/other", "/nonexistent", "/backup"} {
		require.NotContains(t, hidden, shown)
	}
	require.NotContains(t, hiddenFromPods(nil, "/"), "/")
}
