package firstfault

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

var (
	missing   = regexp.MustCompile(`^(?:Missing|Stalled) ranks:`)
	absent    = regexp.MustCompile(`^(\d+)!?: ?\[`)
	unhealthy = regexp.MustCompile(`/job:(\w+)/(?:replica:\d+/)?task:(\d+)\b.*(?:unhealthy|heartbeat|not respond)|(?:unhealthy|heartbeat).*/job:(\w+)/(?:replica:\d+/)?task:(\d+)\b`)
)

// stalled finds the rank that Horovod or TensorFlow name because it took no part any more, unless something else failed there.
func (f *finder) stalled() *Fault {
	all := slices.Clone(f.loose)
	for _, own := range f.ranks {
		all = append(all, own...)
	}
	inOrder(all)
	for i, x := range all {
		rank, words := Unranked, ""
		if missing.MatchString(x.text) && i+1 < len(all) {
			next := all[i+1]
			if g := absent.FindStringSubmatch(next.text); g != nil {
				rank = number(g[1])
			} else if strings.HasPrefix(next.text, "[") { // its number was taken for a tag
				rank = f.speakerOf(next)
			}
			words = "took no part any more in what the other ranks waited for (Horovod: stalled)"
		} else if g := unhealthy.FindStringSubmatch(x.text); g != nil {
			place := cmp.Or(g[1], g[3]) + "-" + cmp.Or(g[2], g[4])
			if i := slices.IndexFunc(f.pods, func(p Pod) bool { return p.Place == place }); i >= 0 {
				rank = f.pods[i].First
			}
			words = "sends no heartbeats any more"
		}
		if rank == Unranked || words == "" {
			continue
		}
		if own := last(f.signs[rank], own); own != nil {
			return f.fault(rank, own.cause, own.words)
		}
		return f.fault(rank, Stall, words)
	}
	return nil
}

func (f *finder) speakerOf(x line) int {
	for rank, all := range f.ranks {
		if slices.ContainsFunc(all, func(y line) bool { return y.order == x.order }) {
			return rank
		}
	}
	return Unranked
}

// waited finds the rank that others waited for in vain.
func (f *finder) waited() *Fault {
	var words string
	waiting := map[int]bool{}
	for _, rank := range slices.Sorted(maps.Keys(f.signs)) {
		if i := slices.IndexFunc(f.signs[rank], func(s sign) bool { return s.cause == Stall }); i >= 0 {
			waiting[rank] = true
			words = cmp.Or(words, f.signs[rank][i].words)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	quiet, since := Unranked, line{}
	for _, rank := range f.all() {
		if waiting[rank] {
			continue
		}
		newest := line{order: -1}
		if all := f.ranks[rank]; len(all) > 0 {
			newest = all[len(all)-1]
		}
		if quiet == Unranked || before(newest, since) < 0 {
			quiet, since = rank, newest
		}
	}
	if quiet == Unranked { // all waited, each for the others
		rank := slices.Min(slices.Collect(maps.Keys(waiting)))
		return f.fault(rank, Stall, fmt.Sprintf("%s; so did all %d ranks that tell", words, len(waiting)))
	}
	return f.fault(quiet, Stall, fmt.Sprintf("took no part any more in what %d other ranks waited for: they %s", len(waiting), words))
}
