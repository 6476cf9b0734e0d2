package kubelet

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/argosy-ml/argosy/cluster/container"
)

// hostImage is what a container without an image of its own is made of: this machine.
type hostImage struct {
	spec   container.Spec // what all such containers have in common
	hidden []string       // folders of the machine that no pod sees
	single bool           // one user id only
}

// bundled are the images of ours whose program lies beside argosy-cluster: last
// part of the image's name, and where the program belongs.
var bundled = map[string]string{
	"argosy-launcher": "/usr/local/bin/argosy-launcher",
	"argoexec":        "/usr/local/bin/argoexec",
}

// programOf names the bundled program of an image; empty when it has none.
func programOf(image string) string {
	name := path.Base(image)
	name, _, _ = strings.Cut(name, "@")
	name, _, _ = strings.Cut(name, ":")
	if _, ok := bundled[name]; ok {
		return name
	}
	return ""
}

// lookAtHost looks at the machine once; it does not change under the sandbox.
func (k *Kubelet) lookAtHost() (hostImage, error) {
	img := hostImage{single: container.SingleID()}
	scratch := filepath.Join(k.podsDir(), ".probe")
	if err := os.MkdirAll(scratch, 0o755); err != nil {
		return img, err
	}
	defer func() { _ = os.RemoveAll(scratch) }() // the next start removes it otherwise
	layers, err := container.HostLayers(scratch, k.log)
	if err != nil {
		return img, err
	}
	users, err := accounts(img.single)
	if err != nil {
		return img, err
	}
	keys, err := k.sshFiles()
	if err != nil {
		return img, err
	}
	img.hidden = both(k.cfg.Home)
	img.spec = container.Spec{Layers: layers, Hidden: img.hidden, Private: []string{sshFolder}, Files: slices.Concat(users, keys, etcLinks)}
	return img, img.spec.LayOver(filepath.Join(k.clusterDir(), "over"))
}

// both is a path, and what it is when its symbolic links are followed if that is something else.
func both(path string) []string {
	if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
		return []string{path, real}
	}
	return []string{path}
}

// accounts are the user database of a container: the machine's, with a root
// that can log in and the user that sshd insists on.
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

// renderShadow gives every user a password that matches nothing: keys work, passwords do not.
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

// sshFiles are /etc/ssh of a container. All containers of a home have the same host key.
func (k *Kubelet) sshFiles() ([]container.File, error) {
	key, public, err := hostKey(filepath.Join(k.clusterDir(), "ssh"))
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

// hostKey reads the host key in the folder, made at first use.
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
		if err := replaceFile(file, private, 0o600); err != nil {
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
