package hostimage

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/argosy-ml/argosy/cluster/runtime/beneath"
)

// secrets are files and folders that only one user of a machine may read. An ordinary user's pods could not read most of them anyway, but
// root's pods could.
var secrets = []string{
	"/home",
	"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d", "/etc/security/opasswd",
	"/etc/ssl/private", "/etc/pki/tls/private", "/etc/letsencrypt", "/etc/krb5.keytab", "/etc/wireguard", "/etc/ipsec.secrets", "/etc/openvpn",
	"/etc/NetworkManager/system-connections", "/var/lib/NetworkManager", "/etc/sssd", "/var/lib/sss", "/etc/ppp",
	"/etc/kubernetes", "/var/lib/kubelet", "/var/lib/etcd", "/etc/rancher", "/var/lib/rancher", "/var/lib/docker", "/var/lib/containerd", "/var/lib/containers",
	"/var/mail", "/var/spool/mail", "/var/spool/cron", "/var/lib/mysql", "/var/lib/postgresql", "/var/backups",
}

// firstPerson is the lowest user id of people's accounts.
const firstPerson = 1000

// Folders that are never hidden as homes, even if an account names them: those in top, and those in system with everything below.
var (
	top    = []string{"/", "/media", "/mnt", "/opt", "/srv", "/tmp", "/var"}
	system = []string{"/bin", "/dev", "/etc", "/lib", "/nonexistent", "/proc", "/run", "/sbin", "/sys", "/usr", "/var/empty", "/var/run"}
)

// hiddenFromPods returns the homes of the accounts in passwd, a home of the owner's own, and known secrets.
func hiddenFromPods(passwd []byte, own string) []string {
	hidden := slices.Clone(secrets)
	add := func(home string) {
		home = filepath.Clean(home)
		isSystem := slices.ContainsFunc(system, func(s string) bool { return beneath.Within(home, s) })
		if filepath.IsAbs(home) && !isSystem && !slices.Contains(top, home) {
			hidden = append(hidden, home)
		}
	}
	for line := range strings.Lines(string(passwd)) {
		if f := strings.Split(strings.TrimSpace(line), ":"); len(f) == 7 {
			if uid, err := strconv.Atoi(f[2]); err == nil && (uid == 0 || uid >= firstPerson) {
				add(f[5])
			}
		}
	}
	add(own)
	return hidden
}

// hide returns what containers on this machine's files do not see: the cluster's data folder, homes and known secrets.
func hide(data string) ([]string, error) {
	passwd, err := os.ReadFile("/etc/passwd")
	if err != nil {
		return nil, err
	}
	own, err := os.UserHomeDir()
	if err != nil {
		own = "/root"
	}
	return append(hiddenFromPods(passwd, own), data), nil
}
