package container

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheKernelIsOutOfReach(t *testing.T) {
	t.Parallel()
	everyone(t, func(t *testing.T, uid int) {
		a := runAs(t, uid, Spec{Process: shell(`
cd /proc
for f in sys/kernel/core_pattern sysrq-trigger sys/kernel/hostname irq/default_smp_affinity; do
  test -e $f || continue
  ( : > $f ) 2>/dev/null && echo "can write $f"
done
for f in kcore keys timer_list; do test "$(head -c 1 $f 2>/dev/null | wc -c)" = 0 || echo "can read $f"; done
mknod /tmp/disk b 8 0 2>/dev/null && echo "can make devices"
umount /proc/sys 2>/dev/null && echo "can unmount"
mount -o remount,rw /proc/sys 2>/dev/null && echo "can remount"
echo checked`)})
		require.Empty(t, a.Fault)
		require.Equal(t, "checked\n", a.Output)
	})
}

func TestReadOnlyRoot(t *testing.T) {
	t.Parallel()
	everyone(t, func(t *testing.T, uid int) {
		dir := folder(t, uid)
		volume := filepath.Join(dir, "volume")
		require.NoError(t, os.Mkdir(volume, 0o777))
		require.NoError(t, os.Chmod(volume, 0o777))
		a := runAs(t, uid, Spec{
			Scratch: filepath.Join(dir, "scratch"), ReadOnlyRoot: true, Private: []string{"/etc/ssh"},
			Mounts: []Mount{{Source: volume, Target: "/v"}, {Source: volume, Target: "/run/below"}},
			Process: shell(`for d in / /etc /usr /var /tmp /run /root /home /etc/ssh /v /run/below /dev/shm; do
( echo x > $d/x ) 2>/dev/null && echo $d; done; echo x > /dev/null && echo null`),
		})
		require.Empty(t, a.Fault)
		require.Equal(t, "/v\n/run/below\n/dev/shm\nnull\n", a.Output)
	})
}

func TestSubPathsStayInTheirVolume(t *testing.T) {
	t.Parallel()
	everyone(t, func(t *testing.T, uid int) {
		dir := folder(t, uid)
		volume := filepath.Join(dir, "volume")
		require.NoError(t, os.MkdirAll(filepath.Join(volume, "data", "sub"), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(volume, "data", "f"), []byte("in\n"), 0o644))
		require.NoError(t, os.Symlink("data", filepath.Join(volume, "inside")))
		require.NoError(t, os.Symlink("/etc", filepath.Join(volume, "absolute")))
		require.NoError(t, os.Symlink("../..", filepath.Join(volume, "above")))
		if os.Geteuid() == 0 {
			for _, p := range []string{"", "data", "data/sub"} {
				require.NoError(t, os.Chown(filepath.Join(volume, p), uid, uid))
			}
		}
		mount := func(sub string) Spec {
			return Spec{
				Scratch: filepath.Join(folder(t, uid), "scratch"), Mounts: []Mount{{Source: volume, SubPath: sub, Target: "/v"}},
				Process: shell("ls /v; cat /v"),
			}
		}
		require.Contains(t, runAs(t, uid, mount("inside")).Output, "f\nsub\n")
		require.Contains(t, runAs(t, uid, mount("data/f")).Output, "in\n")
		a := runAs(t, uid, mount("new/deep"))
		require.Empty(t, a.Fault)
		require.DirExists(t, filepath.Join(volume, "new", "deep"))
		for _, sub := range []string{"absolute", "above", "absolute/ssh"} {
			require.Contains(t, runAs(t, uid, mount(sub)).Fault, "a symbolic link leads out of the volume", sub)
		}
		require.Contains(t, runAs(t, uid, mount("../../etc")).Output, "", "a path is taken from the volume's top")
		require.DirExists(t, filepath.Join(volume, "etc"))
	})
}

func TestLinksInVolumesDoNotLeadMountsOutside(t *testing.T) {
	t.Parallel()
	everyone(t, func(t *testing.T, uid int) {
		dir, made := folder(t, uid), fmt.Sprintf("argosy-made-%d-%d", os.Getpid(), uid)
		volume := filepath.Join(dir, "volume")
		require.NoError(t, os.Mkdir(volume, 0o755))
		require.NoError(t, os.Symlink("/tmp", filepath.Join(volume, "link")))
		a := runAs(t, uid, Spec{
			Scratch: filepath.Join(dir, "scratch"),
			Mounts:  []Mount{{Source: volume, Target: "/v"}, {Source: volume, Target: filepath.Join("/v/link", made)}},
			Process: shell("ls /tmp"),
		})
		require.Empty(t, a.Fault)
		require.Equal(t, made+"\n", a.Output, "the container's own folder got it")
		require.NoDirExists(t, filepath.Join("/tmp", made))
	})
}

func TestVolumesOfTheHostStayInTheirFolder(t *testing.T) {
	t.Parallel()
	everyone(t, func(t *testing.T, uid int) {
		dir := folder(t, uid)
		given, home := filepath.Join(dir, "given"), filepath.Join(dir, "home")
		for _, d := range []string{given, filepath.Join(given, "sub"), home} {
			require.NoError(t, os.Mkdir(d, 0o755))
		}
		require.NoError(t, os.WriteFile(filepath.Join(given, "sub", "file"), []byte("given"), 0o644))
		require.NoError(t, os.Symlink("sub", filepath.Join(given, "inside")))
		for link, target := range map[string]string{"above": "..", "absolute": "/etc", "process": "/proc/self/root", "other": home} {
			require.NoError(t, os.Symlink(target, filepath.Join(given, link)))
		}
		require.NoError(t, os.Symlink(given, filepath.Join(dir, "link")))
		try := func(source, place string) answer {
			return runAs(t, uid, Spec{
				Scratch: filepath.Join(folder(t, uid), "scratch"), Guarded: []string{home}, Mounts: []Mount{{Source: source, Place: place, Target: "/host", Host: true}},
				Process: shell("cat /host/file || ls /host"),
			})
		}
		require.Equal(t, answer{Output: "given"}, try(given, "sub"))
		require.Equal(t, answer{Output: "given"}, try(given, "inside"))
		for place, fault := range map[string]string{
			"above": "leads out", "absolute/passwd": "leads out", "process/etc": "leads out", "other": "leads out", "../home": "leads out", "none": "no such file",
		} {
			require.Contains(t, try(given, place).Fault, fault, place)
		}
		require.Contains(t, try(filepath.Join(dir, "link"), "sub").Fault, "too many levels of symbolic links", "the folder is known without links")
		for _, source := range []string{home, dir, "/", "/proc"} {
			require.Contains(t, try(source, ".").Fault, "is not for pods", source)
		}
	})
}

// What is hidden lies below no mount that a container with all capabilities could take away.
func TestHiddenFoldersStayHidden(t *testing.T) {
	t.Parallel()
	everyone(t, func(t *testing.T, uid int) {
		dir := folder(t, uid)
		home := filepath.Join(dir, "home")
		require.NoError(t, os.MkdirAll(filepath.Join(home, "cluster"), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(home, "cluster", "key"), []byte("secret"), 0o644))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "token"), []byte("secret"), 0o644))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "seen"), []byte("seen\n"), 0o644))
		spec := Spec{
			Scratch: filepath.Join(dir, "scratch"), Hidden: []string{home, filepath.Join(home, "cluster"), filepath.Join(dir, "token"), filepath.Join(dir, "none")},
			Process: shell(`cd ` + dir + `
for d in home/cluster home token .; do umount $d || umount -l $d || mount --bind / /mnt && umount /mnt/` + dir + `/home; done 2>/dev/null
mount -t tmpfs none /mnt && echo mounted
cat home/cluster/key token /mnt/` + dir + `/token 2>/dev/null; cat seen; ls`),
		}
		spec.Privileged = true
		a := runAs(t, uid, spec)
		require.Empty(t, a.Fault)
		require.Equal(t, "mounted\nseen\nhome\nscratch\nseen\n", a.Output)
	})
}

func TestPrivileges(t *testing.T) {
	t.Parallel()
	everyone(t, func(t *testing.T, uid int) {
		bounds := func(p Process) string {
			p.Args = []string{"sh", "-c", "grep -E 'CapBnd|NoNewPrivs' /proc/self/status | tr -d '\\n\\t'"}
			a := runAs(t, uid, Spec{Process: p})
			require.Empty(t, a.Fault)
			return a.Output
		}
		caps := func(add, drop []string) []uintptr {
			c, err := Capabilities(add, drop)
			require.NoError(t, err)
			return c
		}
		engines := "a80425fb" // Docker's and containerd's
		if uid == 0 {
			engines = "a00425fb" // a device that root of the machine makes would be the machine's
		}
		require.Equal(t, "CapBnd:00000000"+engines+"NoNewPrivs:0", bounds(Process{}))
		require.Equal(t, "CapBnd:0000000000000000NoNewPrivs:1", bounds(Process{Capabilities: caps(nil, []string{"ALL"}), NoNewPrivileges: true}))
		require.Equal(t, "CapBnd:0000000000000400NoNewPrivs:0", bounds(Process{Capabilities: caps([]string{"NET_BIND_SERVICE"}, []string{"all"})}))
		require.Equal(t, "CapBnd:00000000a00435fbNoNewPrivs:0", bounds(Process{Capabilities: caps([]string{"CAP_NET_ADMIN"}, []string{"MKNOD"})}))
	})
	_, err := Capabilities([]string{"NO_SUCH"}, nil)
	require.EqualError(t, err, `invalid capability: "CAP_NO_SUCH"`)
	all, err := Capabilities([]string{"ALL"}, []string{"SYS_ADMIN"})
	require.NoError(t, err)
	require.Len(t, all, len(capabilityNames)-1)
}

func TestUsers(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 { // TestUserOfAContainer covers the case of a single user id
		t.Skip("only root has other users to become")
	}
	run := func(user User) string {
		a := runAs(t, 0, Spec{
			Files: []File{
				{Path: "/etc/passwd", Mode: 0o644, Data: []byte("root:x:0:0::/root:\nann:x:1234:100::/home/ann:/bin/sh\n")},
				{Path: "/etc/group", Mode: 0o644, Data: []byte("sound:x:29:ann\n")},
			},
			Process: Process{
				Args: []string{"sh", "-c", "echo $(id -u):$(id -g):$(id -G) $HOME; echo reopened > /dev/stdout"},
				Env:  []string{"PATH=/usr/bin:/bin"}, User: &user,
			},
		})
		require.Empty(t, a.Fault)
		return a.Output
	}
	require.Equal(t, "1234:5:5 7 /home/ann\nreopened\n", run(User{UID: 1234, GID: id(5), Groups: []uint32{7}}))
	require.Equal(t, "1234:100:100 29 /home/ann\nreopened\n", run(User{UID: 1234, Merge: true}))
	require.Equal(t, "99:0:0 /\nreopened\n", run(User{UID: 99, Merge: true}))
}

// What the profile RuntimeDefault refuses is refused, also to those who would ask in numbers of another kind; the rest goes on.
func TestSeccomp(t *testing.T) {
	t.Parallel()
	everyone(t, func(t *testing.T, uid int) {
		const script = `unshare -U true 2>/dev/null && echo "new users"
perl -e 'print syscall(250, 0, -1) < 0 ? "key: $!\n" : "key\n"; print syscall(0x40000000 + 39) < 0 ? "other kind: $!\n" : "other kind\n"'
perl -e 'my $pid = fork // die; exit 7 unless $pid; waitpid $pid, 0; print "child ", $? >> 8, "\n"'`
		spec := Spec{Process: shell(script)}
		a := runAs(t, uid, spec)
		require.Empty(t, a.Fault)
		require.Contains(t, a.Output, "new users\nkey: Operation not permitted\n", "keys belong to no namespace")
		spec.Seccomp = true
		a = runAs(t, uid, spec)
		require.Empty(t, a.Fault)
		require.Equal(t, "key: Operation not permitted\nother kind: Function not implemented\nchild 7\n", a.Output)
	})
}

// Ranks on one machine exchange messages by looking into each other's memory, which takes no capability.
func TestProcessesOfAUserReadEachOthersMemory(t *testing.T) {
	t.Parallel()
	everyone(t, func(t *testing.T, uid int) {
		for name, seccomp := range map[string]bool{"Unconfined": false, "RuntimeDefault": true} {
			spec := Spec{Process: Process{Args: []string{"/box", "peek"}, Seccomp: seccomp}, Mounts: []Mount{{Source: boxProgram, Target: "/box"}}}
			require.Equal(t, answer{Output: "read: of another process\n"}, runAs(t, uid, spec), name)
		}
	})
}
