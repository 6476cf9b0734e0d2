package container

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// layersOf makes the folders of unpacked layers, topmost first, out of their files; the lowest has the program /box.
func layersOf(t *testing.T, uid int, layers ...map[string]string) *Image {
	t.Helper()
	dir := folder(t, uid)
	img := &Image{Folder: dir}
	for i, files := range layers {
		name := string(rune('a' + i))
		img.Layers = append(img.Layers, name)
		files[".keep"] = ""
		for file, content := range files {
			path := filepath.Join(dir, name, file)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			if target, ok := strings.CutPrefix(content, "-> "); ok {
				require.NoError(t, os.Symlink(target, path))
			} else {
				require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
			}
		}
	}
	program, err := os.ReadFile(boxProgram)
	require.NoError(t, err)
	syscall.ForkLock.RLock() // a process that another test forks meanwhile would have the program open for writing: it could not be run
	err = os.WriteFile(filepath.Join(dir, img.Layers[len(layers)-1], "box"), program, 0o755)
	syscall.ForkLock.RUnlock()
	require.NoError(t, err)
	if os.Geteuid() == 0 {
		require.NoError(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return os.Lchown(path, uid, uid)
		}))
	}
	return img
}

func box(commands string) Process {
	return Process{Args: append([]string{"/box"}, strings.Fields(commands)...), Env: []string{"PATH=/"}}
}

func TestImageRoot(t *testing.T) {
	t.Parallel()
	everyone(t, func(t *testing.T, uid int) {
		img := layersOf(t, uid,
			map[string]string{"etc/motd": "upper", "etc/passwd": "root:x:0:0::/home/me:/box\nann:x:0:5::/home/ann:/box\n"},
			map[string]string{"etc/motd": "lower", "etc/below": "seen"})
		img.Folders = []string{"/data/volume"}
		var user *User
		if uid == 0 { // one user id allows no other user
			user = &User{Name: "ann"}
		}
		a := runAs(t, uid, Spec{
			Image: img, Hostname: "boxed",
			Files:   []File{{Path: "/etc/resolv.conf", Mode: 0o644, Data: []byte("nameserver 1")}, {Path: "/etc/hosts", Link: "/run/hosts"}},
			Process: Process{Args: box("cat /etc/motd , cat /etc/below , cat /etc/resolv.conf , ls / , ls /dev , ls /data , cat /proc/sys/kernel/hostname , env HOME , pwd , write /tmp/x y , write /etc/motd mine , cat /etc/motd , stat /tmp").Args, Env: []string{"PATH=/"}, Dir: "/job/here", User: user},
		})
		require.Empty(t, a.Fault)
		require.Equal(t, 0, a.Code, a.Output)
		lines := strings.Split(strings.TrimSpace(a.Output), "\n")
		require.Equal(t, []string{
			"upper", "seen", "nameserver 1", ".keep box data dev etc job proc sys tmp ",
			"fd full null ptmx pts random shm stderr stdin stdout tty urandom zero ", "volume ", "boxed", "HOME=/home/me", "/job/here", "mine",
		}, []string{lines[0], lines[1], lines[2], lines[3], withoutAccelerators(lines[4]), lines[5], lines[6], lines[7], lines[8], lines[9]})
		require.Contains(t, lines[10], "dtrwxrwxrwx")
		b, err := os.ReadFile(filepath.Join(img.Folder, "a/etc/motd"))
		require.NoError(t, err)
		require.Equal(t, "upper", string(b), "a container's writes stay its own")
		require.NoDirExists(t, filepath.Join(img.Folder, "b/tmp"))
	})
}

func TestImageRootReadOnly(t *testing.T) {
	t.Parallel()
	everyone(t, func(t *testing.T, uid int) {
		volume := folder(t, uid)
		a := runAs(t, uid, Spec{
			Image: layersOf(t, uid, map[string]string{"etc/motd": "upper"}), ReadOnlyRoot: true,
			Files: []File{{Path: "/etc/hosts", Mode: 0o644, Data: []byte("hosts")}}, Mounts: []Mount{{Source: volume, Target: "/vol"}},
			Process: box("cat /etc/hosts , write /vol/f x , cat /vol/f , write /tmp/f x"),
		})
		require.Empty(t, a.Fault)
		require.Contains(t, a.Output, "hosts\nx\nerror: open /tmp/f: read-only file system")
	})
}

func withoutAccelerators(devices string) string {
	var plain []string
	for _, d := range strings.Fields(devices) {
		if !strings.HasPrefix(d, "nvidia") && d != "dri" && d != "kfd" && d != "infiniband" {
			plain = append(plain, d)
		}
	}
	return strings.Join(plain, " ") + " "
}

// An image that has links to the host in every place that the root's makers write to or mount on.
func TestHostileImage(t *testing.T) {
	t.Parallel()
	everyone(t, func(t *testing.T, uid int) {
		outside := folder(t, uid)
		up := "-> ../../../../../../../../.." + outside
		img := layersOf(t, uid, map[string]string{
			"dev": up, "proc": "-> " + outside, "sys": up, "etc": up, "vol": up, "job": "-> " + outside, "tmp": up, "data": "-> " + outside,
			outside[1:] + "/inside": "",
		})
		img.Folders = []string{"/data/volume"}
		volume := folder(t, uid)
		require.NoError(t, os.WriteFile(filepath.Join(volume, "f"), []byte("of the volume"), 0o644))
		a := runAs(t, uid, Spec{
			Image:   img,
			Files:   []File{{Path: "/etc/hosts", Mode: 0o644, Data: []byte("hosts")}},
			Mounts:  []Mount{{Source: volume, Target: "/vol/mounted"}},
			Process: Process{Args: box("cat /etc/hosts , cat /vol/mounted/f , pwd").Args, Env: []string{"PATH=/"}, Dir: "/job/here"},
		})
		require.Empty(t, a.Fault)
		require.Equal(t, "hosts\nof the volume\n"+outside+"/here\n", a.Output, "all of it inside the container's root")
		left, err := os.ReadDir(outside)
		require.NoError(t, err)
		require.Empty(t, left, "nothing was made outside")
	})
}

func TestImageUsers(t *testing.T) {
	t.Parallel()
	const passwd, group = "root:x:0:0::/root:/sh\nann:x:1000:5::/home/ann:/sh\n", "staff:x:50:ann\n"
	for name, want := range map[string][2]uint32{"ann": {1000, 5}, "1000": {1000, 0}, "7": {7, 0}} {
		u := User{Name: name}
		require.NoError(t, u.findName(passwd))
		require.Equal(t, want[0], u.UID)
		if u.GID != nil {
			require.Equal(t, want[1], *u.GID)
		}
	}
	require.ErrorContains(t, (&User{Name: "bob"}).findName(passwd), `"bob" is not in its /etc/passwd`)
	id, _, ok := idOf(group, 4, "staff")
	require.True(t, ok)
	require.Equal(t, uint32(50), id)
}

// Images have links to folders that the runtime must create, /var/run to /run above all.
func TestImageWithLinksToNothing(t *testing.T) {
	t.Parallel()
	everyone(t, func(t *testing.T, uid int) {
		img := layersOf(t, uid, map[string]string{"var/run": "-> ../run", "in": "-> /made/for/it", "again": "-> in/turn", "loop": "-> loop"})
		img.Folders = []string{"/in/data"}
		volume := folder(t, uid)
		require.NoError(t, os.WriteFile(filepath.Join(volume, "f"), []byte("of the volume"), 0o644))
		spec := Spec{
			Image: img, Files: []File{{Path: "/again/hosts", Mode: 0o644, Data: []byte("hosts")}},
			Mounts:  []Mount{{Source: volume, Target: "/var/run/argo"}},
			Process: box("cat /run/argo/f , ls /made/for/it , cat /made/for/it/turn/hosts"),
		}
		a := runAs(t, uid, spec)
		require.Empty(t, a.Fault)
		require.Equal(t, "of the volume\ndata turn \nhosts\n", a.Output)
		spec.Dir, spec.Scratch = "/loop/x", ""
		require.Contains(t, runAs(t, uid, spec).Fault, "too many levels of symbolic links")
	})
}
