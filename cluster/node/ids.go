package node

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
)

// idRange is a row of /etc/subuid or /etc/subgid.
type idRange struct{ start, count uint64 }

// mapIDs gives the user namespace of the process its ids: root inside is this
// user, and the others come from the ranges that the machine set aside for it.
// Without ranges, or without the helpers that hand them out, root is alone.
func mapIDs(ctx context.Context, pid int, log *slog.Logger) error {
	uids, uidErr := subordinate("/etc/subuid")
	gids, gidErr := subordinate("/etc/subgid")
	_, noHelper := exec.LookPath("newuidmap")
	if uidErr == nil && gidErr == nil && noHelper == nil {
		err := mapRange(ctx, "newuidmap", pid, os.Getuid(), uids)
		if err == nil {
			err = mapRange(ctx, "newgidmap", pid, os.Getgid(), gids)
		}
		if err == nil {
			return nil
		}
		// A map that was written stays: a single id is impossible from then on.
		return fmt.Errorf("map user ids: %w (the ranges of this user stand in /etc/subuid and /etc/subgid)", err)
	}
	why := "newuidmap is not installed"
	if noHelper == nil {
		why = "no ranges for this user in /etc/subuid and /etc/subgid"
	}
	log.Info("pods have one user id only", "because", why)
	return mapSingle(pid)
}

func mapRange(ctx context.Context, helper string, pid, own int, r idRange) error {
	cmd := exec.CommandContext(ctx, helper, itoa(pid), "0", itoa(own), "1", "1", strconv.FormatUint(r.start, 10), strconv.FormatUint(r.count, 10))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", helper, err, strings.TrimSpace(string(out)))
	}
	return nil
}

func mapSingle(pid int) error {
	// The kernel lets an ordinary user map its group only when processes inside cannot drop groups, since a group may serve to deny access.
	for _, f := range [][2]string{
		{"setgroups", "deny"}, {"uid_map", fmt.Sprintf("0 %d 1", os.Getuid())}, {"gid_map", fmt.Sprintf("0 %d 1", os.Getgid())},
	} {
		if err := os.WriteFile(fmt.Sprintf("/proc/%d/%s", pid, f[0]), []byte(f[1]), 0); err != nil {
			return fmt.Errorf("map the user id: %w", err)
		}
	}
	return nil
}

// HasIDRanges tells whether the machine set ids aside for this user's namespaces.
func HasIDRanges() bool {
	_, uidErr := subordinate("/etc/subuid")
	_, gidErr := subordinate("/etc/subgid")
	return uidErr == nil && gidErr == nil
}

// subordinate finds this user's range in a file like /etc/subuid.
func subordinate(path string) (idRange, error) {
	f, err := os.Open(path)
	if err != nil {
		return idRange{}, err
	}
	defer f.Close()
	names := []string{itoa(os.Getuid())}
	if u, err := user.Current(); err == nil {
		names = append(names, u.Username)
	}
	r, err := parseSubordinate(f, names)
	if err != nil {
		return r, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// parseSubordinate reads rows `name:start:count` and returns the first range of
// any of the names that is worth having.
func parseSubordinate(r io.Reader, names []string) (idRange, error) {
	s := bufio.NewScanner(r)
	for s.Scan() {
		fields := strings.Split(strings.TrimSpace(s.Text()), ":")
		if len(fields) != 3 {
			continue
		}
		for _, name := range names {
			if fields[0] != name {
				continue
			}
			start, err1 := strconv.ParseUint(fields[1], 10, 32)
			count, err2 := strconv.ParseUint(fields[2], 10, 32)
			if err1 != nil || err2 != nil || count == 0 || start+count > 1<<32 {
				return idRange{}, fmt.Errorf("row %q is not name:start:count", s.Text())
			}
			return idRange{start: start, count: count}, nil
		}
	}
	if err := s.Err(); err != nil {
		return idRange{}, err
	}
	return idRange{}, fmt.Errorf("no range for %s", strings.Join(names, " or "))
}
