package container

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAccounts(t *testing.T) {
	t.Parallel()
	const passwd = "root:x:0:0:root:/root:/bin/sh\nnonsense\nann:x:1000:100::/home/ann:/bin/sh\nbad:x:7:many::/:\nnowhere:x:8:8:::\n"
	for uid, want := range map[uint32]struct {
		name string
		gid  uint32
		home string
	}{
		0: {"root", 0, "/root"}, 1000: {"ann", 100, "/home/ann"}, 7: {"", 0, "/"}, 8: {"nowhere", 8, "/"}, 5: {"", 0, "/"},
	} {
		name, gid, home := accountOf(passwd, uid)
		require.Equal(t, want.name, name)
		require.Equal(t, want.gid, gid)
		require.Equal(t, want.home, home)
	}
	require.Equal(t, []uint32{27, 30}, groupsOf("root:x:0:\nsudo:x:27:bob,ann\nx\nfew:x:29:an,nn\nann:x:30:ann\n", "ann"))
}

func FuzzAccounts(f *testing.F) {
	f.Add("root:x:0:0:root:/root:/bin/sh\n", uint32(0), "root")
	f.Add("a:::a,b\n", uint32(1), "b")
	f.Fuzz(func(t *testing.T, file string, uid uint32, user string) {
		if _, _, home := accountOf(file, uid); home == "" {
			t.Fatal("everybody lives somewhere")
		}
		groupsOf(file, user)
	})
}
