package firstfault

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// shown is how many lines of a rank a fault has.
const shown = 20

// maxWords bounds the words of a fault.
const maxWords = 300

// Find says what the job failed of first, nil when nothing tells. The pods are those of the job, as they ended.
func (l *Log) Find(pods []Pod) *Fault {
	f := l.read(pods)
	for _, look := range []func() *Fault{f.removed, f.stalled, f.reported, f.exited, f.signed, f.loosely, f.waited} {
		if fault := look(); fault != nil {
			return f.complete(fault)
		}
	}
	return nil
}

// finder has read all that is known of a job.
type finder struct {
	pods    []Pod
	hosts   []string
	ranks   map[int][]line
	signs   map[int][]sign
	loose   []line // of no rank: what programs print that start others
	off     []sign // in them
	reports []report
}

func (l *Log) read(pods []Pod) *finder {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := &finder{pods: pods, hosts: l.hosts, ranks: map[int][]line{}, signs: map[int][]sign{}}
	byPod := map[string][]line{}
	for who, own := range l.speakers {
		all := own.all()
		byPod[who.pod] = append(byPod[who.pod], all...)
		if rank := rankIn(pods, who); rank == Unranked {
			f.loose = append(f.loose, all...)
		} else {
			f.ranks[rank] = append(f.ranks[rank], all...)
		}
	}
	for rank, all := range f.ranks {
		inOrder(all)
		f.signs[rank] = signs(all)
	}
	inOrder(f.loose)
	f.off = signs(f.loose)
	// A report may stand among the lines of the rank whose pod printed it.
	for _, all := range byPod {
		inOrder(all)
		f.reports = append(f.reports, reported(all)...)
	}
	slices.SortStableFunc(f.reports, func(a, b report) int {
		return cmp.Or(cmp.Compare(a.when, b.when), before(a.line, b.line))
	})
	return f
}

func inOrder(all []line) { slices.SortFunc(all, before) }

// before orders lines of one pod, or of several whose times are known.
func before(a, b line) int {
	if !a.at.IsZero() && !b.at.IsZero() {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.order, b.order))
	}
	return cmp.Compare(a.order, b.order)
}

// removed finds the pod that the cluster ended, or whose memory ran out: no program can tell of that itself.
func (f *finder) removed() *Fault {
	var gone *Pod
	for i := range f.pods {
		p := &f.pods[i]
		if p.Removed == "" && (p.Exit == nil || p.Exit.Reason != "OOMKilled") {
			continue
		}
		if gone == nil || ended(p).Before(ended(gone)) {
			gone = p
		}
	}
	if gone == nil {
		return nil
	}
	fault := &Fault{Cause: Memory, Rank: f.soleRank(gone), Pod: gone.Name, Words: "was killed for using more memory than its limit"}
	if gone.Exit != nil {
		fault.Words += fmt.Sprintf(" (exit code %d)", gone.Exit.Code)
	}
	if gone.Removed != "" {
		fault.Cause, fault.Words = Lost, "the cluster removed the pod: "+gone.Removed
		if strings.Contains(gone.Removed, "Evicted") || strings.Contains(gone.Removed, "Preempt") {
			fault.Cause = Evicted
		}
		if gone.Message != "" {
			fault.Words += ": " + gone.Message
		}
	}
	return fault
}

func ended(p *Pod) time.Time {
	if p.Exit == nil {
		return time.Time{}
	}
	return p.Exit.At
}

// soleRank is the rank of a pod that has exactly one.
func (f *finder) soleRank(p *Pod) int {
	if p.First == p.Last {
		return p.First
	}
	return Unranked
}

// reported follows what the program says that started the ranks.
func (f *finder) reported() *Fault {
	i := slices.IndexFunc(f.reports, func(r report) bool { return !r.broad })
	if i < 0 {
		if i = 0; len(f.reports) == 0 || f.anyone() != Unranked || last(f.off, own) != nil {
			return nil // other signs tell more
		}
	}
	r := f.reports[i]
	if r.cause == Lost {
		// A daemon that was never reached is said to be lost, too; ssh said why.
		if s := first(f.off, own); s != nil && s.host != "" {
			return f.loosely()
		}
	}
	if p := podOn(f.pods, r.host); p != nil && r.rank == Unranked {
		r.rank = f.soleRank(p)
		if rank, s := f.within(p); s != nil && s.weight == own {
			r.rank = rank
		}
	}
	mine := last(f.signs[r.rank], own)
	if r.rank == Unranked {
		mine = first(f.off, own)
	}
	if mine == nil && (last(f.signs[r.rank], consequence) != nil || r.signal == 15) {
		// It only followed another.
		if other := f.anyone(); other != Unranked {
			return nil
		}
		if x := f.waited(); x != nil {
			return x
		}
	}
	fault := f.fault(r.rank, r.cause, r.words)
	fault.Host = r.host
	if p := podOn(f.pods, r.host); p != nil && fault.Pod == "" {
		fault.Pod = p.Name
	}
	f.explain(fault, r, mine)
	return fault
}

// explain puts what the rank itself says before what is said of it, except that a signal from outside says enough.
func (f *finder) explain(fault *Fault, r report, mine *sign) {
	how := ""
	switch {
	case r.signal > 0:
		var cause Cause
		cause, how = bySignal(r.signal)
		if r.words == "" {
			fault.Cause, fault.Words = cause, how
		}
		if cause != Crash {
			return
		}
	case r.words == "":
		fault.Cause, fault.Words = byCode(r.code)
		how = fmt.Sprintf("exit code %d", r.code)
	case r.code != 0:
		how = r.words
	}
	switch {
	case mine != nil && (r.cause == Exit || r.cause == Killed || r.cause == Aborted || r.broad):
		fault.Cause, fault.Words = mine.cause, mine.words
		if how != "" {
			fault.Words = clip(mine.words) + " (" + how + ")"
		}
	case mine == nil && r.words == "" && r.signal == 0:
		if x := last(f.signs[r.rank], consequence); x != nil {
			fault.Cause, fault.Words = x.cause, fmt.Sprintf("%s (%s)", clip(x.words), how)
		} else if x := last(f.signs[r.rank], hint); x != nil {
			fault.Words = fmt.Sprintf("%s (%s)", clip(x.words), how)
		}
	}
}

// exited finds the pod that failed by itself, among those that are ranks or serve them.
func (f *finder) exited() *Fault {
	var failed []*Pod
	for i := range f.pods {
		if p := &f.pods[i]; p.Exit != nil && !p.Starts {
			failed = append(failed, p)
		}
	}
	if len(failed) == 0 {
		return nil
	}
	slices.SortStableFunc(failed, func(a, b *Pod) int {
		return cmp.Or(cmp.Compare(f.blame(b), f.blame(a)), a.Exit.At.Compare(b.Exit.At), cmp.Compare(a.First, b.First))
	})
	p := failed[0]
	if f.blame(p) == 0 {
		if x := f.waited(); x != nil {
			return x
		}
	}
	rank, s := f.within(p)
	cause, words := byCode(p.Exit.Code)
	fault := f.fault(rank, cause, words)
	fault.Pod = p.Name
	switch {
	case s != nil && cause != Killed:
		fault.Cause, fault.Words = s.cause, fmt.Sprintf("%s (exit code %d)", clip(s.words), p.Exit.Code)
	case p.Exit.Message != "":
		fault.Words += ": " + strings.TrimSpace(p.Exit.Message)
	case p.Exit.Reason != "" && p.Exit.Reason != "Error":
		fault.Words += ": " + p.Exit.Reason
		if strings.Contains(p.Exit.Reason, "StartError") || strings.Contains(p.Exit.Reason, "CannotRun") {
			fault.Cause = Image
		}
	}
	return fault
}

// blame is 2 for a pod with a fault of its own, 1 for one that does not tell, 0 for one that followed another.
func (f *finder) blame(p *Pod) int {
	_, s := f.within(p)
	switch {
	case s != nil && s.weight == own:
		return 2
	case s != nil && s.weight == consequence, p.Exit.Code == 143:
		return 0
	}
	return 1
}

// within finds the rank of a pod that failed, and what it says.
func (f *finder) within(p *Pod) (int, *sign) {
	if p.First == Unranked {
		return Unranked, lastOf(f.off)
	}
	best, rank := (*sign)(nil), f.soleRank(p)
	for r := p.First; r <= p.Last; r++ {
		if s := lastOf(f.signs[r]); s != nil && (best == nil || s.weight > best.weight || s.weight == best.weight && before(s.line, best.line) < 0) {
			best, rank = s, r
		}
	}
	return rank, best
}

// lastOf is the newest sign of the greatest weight.
func lastOf(all []sign) *sign {
	return cmp.Or(last(all, own), last(all, consequence), last(all, hint))
}

// anyone is the rank whose own fault came first, Unranked when none has one.
func (f *finder) anyone() int {
	rank, found := Unranked, (*sign)(nil)
	for _, r := range slices.Sorted(maps.Keys(f.signs)) {
		if s := last(f.signs[r], own); s != nil && (found == nil || before(s.line, found.line) < 0) {
			rank, found = r, s
		}
	}
	return rank
}

// signed follows the ranks' own words.
func (f *finder) signed() *Fault {
	rank := f.anyone()
	if rank == Unranked {
		return nil
	}
	s := last(f.signs[rank], own)
	return f.fault(rank, s.cause, s.words)
}

// loosely follows what no rank claims: the job's script, and ranks without tags.
func (f *finder) loosely() *Fault {
	s := first(f.off, own)
	if s == nil {
		s = first(f.off, hint)
	}
	if s == nil {
		return nil
	}
	fault := &Fault{Cause: s.cause, Rank: Unranked, Host: s.host, Words: s.words, Lines: texts(f.loose)}
	if p := podOn(f.pods, s.host); p != nil {
		fault.Pod, fault.Rank = p.Name, f.soleRank(p)
	}
	if len(f.reports) > 0 && fault.Rank == Unranked && fault.Host == "" { // ranks without tags; a report names one
		if r := f.reports[0]; len(f.reports) == 1 {
			fault.Rank, fault.Host = r.rank, r.host
		}
	}
	return fault
}

func first(all []sign, w weight) *sign {
	for i := range all {
		if all[i].weight == w {
			return &all[i]
		}
	}
	return nil
}

// all are the ranks that are known.
func (f *finder) all() []int {
	known := map[int]bool{}
	for rank := range f.ranks {
		known[rank] = true
	}
	for _, p := range f.pods {
		for rank := p.First; rank != Unranked && rank <= p.Last; rank++ {
			known[rank] = true
		}
	}
	return slices.Sorted(maps.Keys(known))
}

func (f *finder) fault(rank int, cause Cause, words string) *Fault {
	return &Fault{Cause: cause, Rank: rank, Words: words, Lines: texts(f.ranks[rank])}
}

// complete adds what is known of the rank's place.
func (f *finder) complete(fault *Fault) *Fault {
	fault.Words = clip(fault.Words)
	if fault.Host == "" && fault.Rank >= 0 && fault.Rank < len(f.hosts) {
		fault.Host = f.hosts[fault.Rank]
	}
	// Where the runtime placed the rank is better than the order of the workers.
	if p := cmp.Or(podOn(f.pods, fault.Host), podOf(f.pods, fault.Rank)); p != nil && fault.Pod == "" {
		fault.Pod = p.Name
	}
	if i := slices.IndexFunc(f.pods, func(p Pod) bool { return p.Name == fault.Pod }); i >= 0 {
		p := f.pods[i]
		fault.Host = cmp.Or(p.Node, fault.Host)
		for rank := p.First; len(fault.Lines) == 0 && rank != Unranked && rank <= p.Last; rank++ {
			fault.Lines = texts(f.ranks[rank])
		}
	}
	if len(fault.Lines) == 0 {
		fault.Lines = texts(f.loose)
	}
	return fault
}

// texts are the last lines.
func texts(all []line) (out []string) {
	for _, x := range all[max(0, len(all)-shown):] {
		text := x.text
		if len(text) > 1 && text[0] == ' ' && text[1] != ' ' { // that follows a tag
			text = text[1:]
		}
		out = append(out, text)
	}
	return out
}

func clip(text string) string {
	if len(text) > maxWords {
		return strings.ToValidUTF8(text[:maxWords], "") + "..."
	}
	return text
}
