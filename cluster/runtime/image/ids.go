package image

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// idMap says which owners files can be given to by this process.
type idMap struct {
	key     string // names the folder of what is unpacked with it
	trusted bool   // this process has privilege over the file system itself
	owner   func(uid, gid int) (int, int)
}

// rootKey is the key of all of the machine's ids.
const rootKey = "root"

// overflowID is what the kernel shows for an owner that a user namespace does not know.
const overflowID = 65534

func currentIDs() (idMap, error) {
	uids, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return idMap{}, err
	}
	gids, err := os.ReadFile("/proc/self/gid_map")
	if err != nil {
		return idMap{}, err
	}
	return readIDs(string(uids), string(gids), os.Geteuid())
}

// readIDs reads the user namespace's tables, see user_namespaces(7).
func readIDs(uidMap, gidMap string, euid int) (idMap, error) {
	uids, err1 := idRanges(uidMap)
	gids, err2 := idRanges(gidMap)
	if err1 != nil || err2 != nil {
		return idMap{}, fmt.Errorf("user ids of this process: %w %w", err1, err2)
	}
	if euid != 0 { // outside the sandbox, for tests: nothing can be given away
		return idMap{key: "user-" + strconv.Itoa(euid)}, nil
	}
	m := idMap{key: tableKey(uidMap)}
	if len(uids) == 1 && uids[0].count == 1 {
		return m, nil // every file is root's
	}
	if len(uids) == 1 && uids[0].count == 1<<32-1 {
		m.key, m.trusted = rootKey, true
	}
	m.owner = func(uid, gid int) (int, int) { return uids.squash(uid), gids.squash(gid) }
	return m, nil
}

// tableKey is an id table as the name of a folder: other ids, other files.
func tableKey(table string) string { return "ids-" + strings.Join(strings.Fields(table), "-") }

type idRange struct{ first, count int }

type ranges []idRange

func idRanges(table string) (ranges, error) {
	var rs ranges
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			return nil, fmt.Errorf("row %q of an id table", line)
		}
		first, err1 := strconv.Atoi(fields[0])
		count, err2 := strconv.Atoi(fields[2])
		if err1 != nil || err2 != nil {
			return nil, fmt.Errorf("row %q of an id table", line)
		}
		rs = append(rs, idRange{first, count})
	}
	return rs, nil
}

// squash returns the id where the namespace has it, and the overflow id otherwise.
func (rs ranges) squash(id int) int {
	for _, r := range rs {
		if id >= r.first && id-r.first < r.count {
			return id
		}
	}
	for _, r := range rs {
		if overflowID >= r.first && overflowID-r.first < r.count {
			return overflowID
		}
	}
	return 0
}
