package scrape

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	hydraMark  = []byte(" places ranks: ")
	hydraWorld = regexp.MustCompile(`^argosy: \S+ places ranks: (\d+ on \S+(?:, \d+ on \S+)*)\s*$`)
)

// HydraWorld reads the line in which launcher/job/launcher.sh says where MPICH's mpirun starts ranks, such as
// "argosy: mpirun places ranks: 2 on a, 2 on b".
func HydraWorld(line []byte) (w World, ok bool) {
	if !bytes.Contains(line, hydraMark) {
		return w, false
	}
	g := hydraWorld.FindSubmatch(line)
	if g == nil {
		return w, false
	}
	for place := range strings.SplitSeq(string(g[1]), ", ") {
		count, host, _ := strings.Cut(place, " on ")
		ranks, _ := strconv.Atoi(count)
		w.Ranks += ranks
		at := slices.Index(w.Hosts, host)
		if at < 0 {
			w.Hosts, w.PerHost, at = append(w.Hosts, host), append(w.PerHost, 0), len(w.Hosts)
		}
		w.PerHost[at] += ranks
	}
	return w, true
}
