package hostimage

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
)

func TestRenderPasswd(t *testing.T) {
	t.Parallel()
	host := "root:x:0:0:Mister Root:/var/root:/bin/zsh\nann:x:1000:1000::/home/ann:/bin/bash\nsshd:x:102:65534::/run/sshd:/usr/sbin/nologin\nbroken line\n\n"
	require.Empty(t, cmp.Diff(
		"root:x:0:0:root:/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/bash\nsshd:x:102:65534::/run/sshd:/usr/sbin/nologin\n",
		string(renderPasswd([]byte(host), "/bin/sh", false))))
	require.Empty(t, cmp.Diff(
		"root:x:0:0:root:/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/bash\nsshd:x:0:0::/run/sshd:/usr/sbin/nologin\n",
		string(renderPasswd([]byte(host), "/bin/sh", true))))
	require.Equal(t, 1, strings.Count(string(renderPasswd(nil, "/bin/sh", false)), "\nsshd:"), "a machine without sshd has the user all the same")
	require.Equal(t, "root:*:19000:0:99999:7:::\nann:*:19000:0:99999:7:::\n", string(renderShadow([]byte("root:x:0\nann:x:1\n"))))
}

func TestHostKeyIsMadeOnce(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "ssh")
	private, public, err := hostKey(dir)
	require.NoError(t, err)
	again, _, err := hostKey(dir)
	require.NoError(t, err)
	require.Equal(t, private, again)
	_, _, _, _, err = ssh.ParseAuthorizedKey(public)
	require.NoError(t, err)
	fi, err := os.Stat(filepath.Join(dir, "ssh_host_ed25519_key"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), fi.Mode())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ssh_host_ed25519_key"), []byte("junk"), 0o600))
	_, _, err = hostKey(dir)
	require.ErrorContains(t, err, "remove it to have a new one made")
}
