package gitsync

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/http"
	"github.com/go-git/go-git/v5/plumbing/transport/ssh"
	cryptossh "golang.org/x/crypto/ssh"
)

// auth returns how to prove who we are, nil when nothing is set: a URL may hold
// a user name and password itself.
func (c Config) auth() (transport.AuthMethod, error) {
	if _, local := isLocal(c.Repo); local {
		return nil, nil
	}
	ep, err := transport.NewEndpoint(c.Repo)
	if err != nil {
		return nil, fmt.Errorf("repository %s is not a URL: %w", redact(c.Repo), err)
	}
	switch ep.Protocol {
	case "http", "https":
		if c.Username == "" && c.Password == "" {
			return nil, nil
		}
		user := c.Username
		if user == "" {
			user = "git" // any will do where the password is a token
		}
		return &http.BasicAuth{Username: user, Password: c.Password}, nil
	case "ssh":
		return c.sshAuth(ep)
	}
	return nil, nil
}

func (c Config) sshAuth(ep *transport.Endpoint) (transport.AuthMethod, error) {
	user := ep.User
	if user == "" {
		user = "git"
	}
	file := c.keyFile()
	if file == "" {
		return nil, nil // the agent, if there is one
	}
	keys, err := ssh.NewPublicKeysFromFile(user, file, c.Password)
	if err != nil {
		return nil, fmt.Errorf("SSH key %s: %w", file, err)
	}
	if c.AnyHostKey {
		keys.HostKeyCallback = cryptossh.InsecureIgnoreHostKey() //nolint:gosec // asked for
	}
	return keys, nil
}

// keyFile is the key that was set, else the first that is where keys usually are.
func (c Config) keyFile() string {
	if c.SSHKey != "" {
		return c.SSHKey
	}
	candidates := []string{"/etc/git-secret/ssh"}
	if home, err := os.UserHomeDir(); err == nil {
		candidates = append(candidates, filepath.Join(home, ".ssh/id_ed25519"), filepath.Join(home, ".ssh/id_rsa"))
	}
	for _, file := range candidates {
		if _, err := os.Stat(file); err == nil {
			return file
		}
	}
	return ""
}
