package job

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/argosy-ml/argosy/launcher/firstfault"
)

// silent returns why a running job is given up: none of its ranks has printed anything for the silence timeout. It returns nil before that.
func (l *Launcher) silent(ctx context.Context, s state, runs time.Time, log *firstfault.Log, now time.Time) *FailedError {
	most := l.Spec.SilenceTimeout
	if most == 0 || runs.IsZero() {
		return nil
	}
	heard := log.Heard()
	if heard.Before(runs) {
		heard = runs
	}
	if now.Sub(heard) < most {
		return nil
	}
	pods := l.Spec.ended(s.pods)
	cause := fmt.Sprintf("it hangs: no rank has printed anything for %s (silence timeout %s); %s", now.Sub(heard).Round(time.Second), most, l.silences(log.Silences(pods), runs))
	where, lines := l.where(ctx, s)
	failed := &FailedError{Code: 1, Cause: cause + where, lines: lines}
	if fault := log.Find(pods); fault != nil {
		failed.Cause += "; " + fault.String()
		failed.lines = fault.Lines
	}
	return failed
}

// maxSilences bounds how many ranks a message names.
const maxSilences = 16

// silences says since when each rank is silent, the first of them first.
func (l *Launcher) silences(all []firstfault.Silence, runs time.Time) string {
	var silences []firstfault.Silence
	for rank := range l.Spec.World() {
		at := slices.IndexFunc(all, func(s firstfault.Silence) bool { return s.Rank == rank })
		if at < 0 {
			silences = append(silences, firstfault.Silence{Rank: rank})
		} else {
			silences = append(silences, all[at])
		}
	}
	slices.SortStableFunc(silences, func(a, b firstfault.Silence) int { return a.Since.Compare(b.Since) })
	var parts []string
	for _, s := range silences[:min(len(silences), maxSilences)] {
		since := "since " + s.Since.UTC().Format("15:04:05")
		if s.Since.IsZero() {
			since = "from its start at " + runs.UTC().Format("15:04:05")
		}
		parts = append(parts, fmt.Sprintf("rank %d %s", s.Rank, since))
	}
	text := "silent are " + strings.Join(parts, ", ")
	if more := len(silences) - maxSilences; more > 0 {
		text += fmt.Sprintf(" and %d more ranks later", more)
	}
	return text
}
