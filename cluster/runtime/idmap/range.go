// Package idmap gives the pods of a cluster that root runs user ids of their
// own: root of a pod is an id outside that no account has.
//
// An ordinary user's cluster gets its ids from /etc/subuid, and its data folder
// belongs to root of its pods because both are that user. Root takes a range
// that the machine uses for nothing else, and its data folder is mounted for the
// sandbox with the ids shifted (MOUNT_ATTR_IDMAP): files keep their owners on the
// disk, and the sandbox sees root's as its own.
package idmap

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/argosy-ml/argosy/cluster/host/home"
	"github.com/argosy-ml/argosy/cluster/runtime/container"
)

// Count is how many ids the pods of a cluster have, as in Kubernetes' user namespaces.
const Count = 1 << 16

// Ranges lie where systemd's list of ids (https://systemd.io/UIDS-GIDS) knows of no use.
const (
	lowest = 0x7000_0000
	above  = 0x7ffe_0000
)

// Range is Count ids in a row.
type Range struct {
	First uint32 `json:"first"`
}

// Needed says whether this process is root of the machine. Root of a user namespace is nothing outside as it is.
func Needed() bool { return os.Geteuid() == 0 && !container.InUserNamespace() }

// Take returns the range of a data folder, chosen at the first start.
func Take(h home.Home) (Range, error) {
	taken, err := subordinate("/etc/subuid", "/etc/subgid")
	if err != nil {
		return Range{}, err
	}
	b, err := os.ReadFile(h.IDs())
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return Range{}, err
	default:
		var r Range
		if err := json.Unmarshal(b, &r); err != nil || r.First < lowest || r.First > above-Count {
			return r, fmt.Errorf("%s holds no range of user ids: remove it to have one chosen", h.IDs())
		}
		if !r.overlaps(taken) {
			return r, nil
		}
	}
	r, err := choose(string(h), taken)
	if err != nil {
		return r, err
	}
	if b, err = json.Marshal(r); err != nil {
		return r, err
	}
	return r, home.WriteFile(h.IDs(), append(b, '\n'))
}

// Free is a range for a moment.
func Free() (Range, error) {
	taken, err := subordinate("/etc/subuid", "/etc/subgid")
	if err != nil {
		return Range{}, err
	}
	return choose("", taken)
}

// choose begins at a place that differs from folder to folder.
func choose(seed string, taken []span) (Range, error) {
	const ranges = (above - lowest) / Count
	h := fnv.New32a()
	_, _ = h.Write([]byte(seed)) // it cannot fail
	for i := range uint32(ranges) {
		r := Range{lowest + (h.Sum32()+i)%ranges*Count}
		if !r.overlaps(taken) {
			return r, nil
		}
	}
	return Range{}, fmt.Errorf("/etc/subuid and /etc/subgid leave no %d user ids in a row from %d to %d for pods", Count, lowest, above-1)
}

// span is a row of /etc/subuid or /etc/subgid.
type span struct{ first, count uint64 }

func (r Range) overlaps(taken []span) bool {
	for _, s := range taken {
		if uint64(r.First) < s.first+s.count && s.first < uint64(r.First)+Count {
			return true
		}
	}
	return false
}

// subordinate reads all rows `name:first:count` and skips rows of another form.
func subordinate(paths ...string) (taken []span, err error) {
	for _, path := range paths {
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		s := bufio.NewScanner(f)
		for s.Scan() {
			fields := strings.Split(strings.TrimSpace(s.Text()), ":")
			if len(fields) != 3 {
				continue
			}
			first, err1 := strconv.ParseUint(fields[1], 10, 32)
			count, err2 := strconv.ParseUint(fields[2], 10, 32)
			if err1 == nil && err2 == nil {
				taken = append(taken, span{first, count})
			}
		}
		if err := errors.Join(s.Err(), f.Close()); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return taken, nil
}

// Nobody returns the credential of a user id in the range that owns no files. Processes outside containers run under it when they need no
// rights.
func (r Range) Nobody() *syscall.Credential {
	const nobody = 65534
	return &syscall.Credential{Uid: r.First + nobody, Gid: r.First + nobody}
}

// apply has a command run as root of a new user namespace with these ids.
func (r Range) apply(attr *syscall.SysProcAttr) {
	ids := []syscall.SysProcIDMap{{ContainerID: 0, HostID: int(r.First), Size: Count}}
	attr.Cloneflags |= syscall.CLONE_NEWUSER
	attr.UidMappings, attr.GidMappings, attr.GidMappingsEnableSetgroups = ids, ids, true
}
