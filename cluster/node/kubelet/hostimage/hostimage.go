// Package hostimage makes the files of a container without an image of its own: those of this machine, without what is secret in them.
package hostimage

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/etc"
	"github.com/argosy-ml/argosy/cluster/runtime/beneath"
	"github.com/argosy-ml/argosy/cluster/runtime/container"
)

// Image is what all containers without an image of their own have in common.
type Image struct {
	Spec     container.Spec
	SingleID bool // there is one user id only
}

// Config chooses the folders and files of the machine that containers see.
type Config struct {
	Home    string   // data folder, which containers do not see
	Cluster string   // folder in it for files of the cluster
	Scratch string   // an empty folder for trials
	Root    string   // where the machine's root file system is seen without what is mounted there; may be empty
	Covered []string // folders of the machine that containers see empty
	Volumes []string // folders of the machine that only volumes show
	Log     *slog.Logger
}

// Look looks at the machine once; its folders do not change under the sandbox.
func Look(cfg Config) (Image, error) {
	img := Image{SingleID: container.SingleID()}
	if err := os.MkdirAll(cfg.Scratch, 0o755); err != nil {
		return img, err
	}
	defer func() { _ = os.RemoveAll(cfg.Scratch) }() // the next start removes it otherwise
	host := container.Host{Root: cfg.Root, Covered: cfg.Covered, Hidden: Both(cfg.Home)}
	if cfg.Root != "" { // what is mounted there for volumes belongs to root
		host.Hidden = append(host.Hidden, cfg.Volumes...)
	}
	layers, err := host.Layers(cfg.Scratch, cfg.Log)
	if err != nil {
		return img, err
	}
	users, err := accounts(img.SingleID)
	if err != nil {
		return img, err
	}
	keys, err := sshFiles(filepath.Join(cfg.Cluster, "ssh"))
	if err != nil {
		return img, err
	}
	hidden, err := hide(cfg.Home)
	if err != nil {
		return img, err
	}
	img.Spec = container.Spec{Layers: layers, Hidden: hidden, Guarded: Both(cfg.Home), Private: []string{sshFolder}, Files: slices.Concat(users, keys, etc.Links)}
	return img, img.Spec.LayOver(filepath.Join(cfg.Cluster, "over"))
}

// Both returns a path, and the path without symbolic links if that differs.
func Both(path string) []string {
	if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
		return []string{path, real}
	}
	return []string{path}
}

// accounts returns the user database of a container: the machine's, with a root that can log in and the user that sshd needs.
func accounts(single bool) ([]container.File, error) {
	passwd, err := os.ReadFile("/etc/passwd")
	if err != nil {
		return nil, err
	}
	return []container.File{
		{Path: "/etc/passwd", Mode: 0o644, Data: renderPasswd(passwd, shell(), single)},
		{Path: "/etc/shadow", Mode: 0o600, Data: renderShadow(renderPasswd(passwd, shell(), single))},
	}, nil
}

func shell() string {
	if _, err := os.Stat("/bin/bash"); err == nil {
		return "/bin/bash"
	}
	return "/bin/sh"
}

func renderPasswd(host []byte, shell string, single bool) []byte {
	var b bytes.Buffer
	b.WriteString("root:x:0:0:root:/root:" + shell + "\n")
	sshd := "sshd:x:74:65534::/run/sshd:/usr/sbin/nologin"
	if single { // there is no second user to become
		sshd = "sshd:x:0:0::/run/sshd:/usr/sbin/nologin"
	}
	for line := range strings.Lines(string(host)) {
		line = strings.TrimSpace(line)
		name, _, ok := strings.Cut(line, ":")
		switch {
		case !ok, name == "root", strings.Count(line, ":") != 6:
			continue
		case name == "sshd" && !single:
			sshd = line
			continue
		case name == "sshd":
			continue
		}
		b.WriteString(line + "\n")
	}
	b.WriteString(sshd + "\n")
	return b.Bytes()
}

// renderShadow gives every user a password that matches nothing. Keys still work.
func renderShadow(passwd []byte) []byte {
	var b bytes.Buffer
	for line := range strings.Lines(string(passwd)) {
		name, _, _ := strings.Cut(line, ":")
		fmt.Fprintf(&b, "%s:*:19000:0:99999:7:::\n", name)
	}
	return b.Bytes()
}

const (
	sshFolder  = "/etc/ssh"
	sshdConfig = `# Written by the embedded cluster.
HostKey /etc/ssh/ssh_host_ed25519_key
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
# Keys come from volumes, whose modes are not what sshd would like.
StrictModes no
UsePAM no
UseDNS no
PrintMotd no
MaxStartups 1000
MaxSessions 1000
AcceptEnv *
Subsystem sftp internal-sftp
`
	sshConfig = `# Written by the embedded cluster: pods come and go, and their addresses with them.
Host *
    StrictHostKeyChecking no
    UserKnownHostsFile /dev/null
    LogLevel ERROR
`
)

// sshFiles returns /etc/ssh of a container. All containers of a cluster have the same host key, which lies in folder.
func sshFiles(folder string) ([]container.File, error) {
	key, public, err := hostKey(folder)
	if err != nil {
		return nil, fmt.Errorf("ssh host key: %w", err)
	}
	return []container.File{
		{Path: sshFolder + "/sshd_config", Mode: 0o644, Data: []byte(sshdConfig)},
		{Path: sshFolder + "/ssh_config", Mode: 0o644, Data: []byte(sshConfig)},
		{Path: sshFolder + "/ssh_host_ed25519_key", Mode: 0o600, Data: key},
		{Path: sshFolder + "/ssh_host_ed25519_key.pub", Mode: 0o644, Data: public},
	}, nil
}

// hostKey reads the host key in the folder, and makes it at first use.
func hostKey(folder string) (private, public []byte, err error) {
	file := filepath.Join(folder, "ssh_host_ed25519_key")
	private, err = os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		_, key, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			return nil, nil, err
		}
		block, err := ssh.MarshalPrivateKey(key, "")
		if err != nil {
			return nil, nil, err
		}
		private = pem.EncodeToMemory(block)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, nil, err
		}
		if err := beneath.Replace(file, private, 0o600); err != nil {
			return nil, nil, err
		}
	} else if err != nil {
		return nil, nil, err
	}
	signer, err := ssh.ParsePrivateKey(private)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w (remove it to have a new one made)", file, err)
	}
	return private, ssh.MarshalAuthorizedKey(signer.PublicKey()), nil
}
