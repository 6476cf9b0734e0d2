package schedule

import (
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/argosy-ml/argosy/server/apierr"
)

// Trigger says when runs start: by Cron, by Interval, or with neither once, when the schedule is made. Times are UTC.
type Trigger struct {
	Cron       string        // [second] minute hour day-of-month month weekday; or a word such as @daily
	Interval   time.Duration // whole seconds; the first run is one interval after the start
	Start, End time.Time     // runs come after the start (KFP v1) and not after the end; zero: from the making of the schedule, and for ever
}

// expression reads the six fields of KFP v1, which begin with seconds, and the five that cron has everywhere else. KFP takes five for
// six without the weekday, so that */5 * * * * would start twelve runs a minute.
var expression = cron.NewParser(cron.SecondOptional | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)

func (t Trigger) check() error {
	if t.Cron != "" && t.Interval != 0 {
		return apierr.New(apierr.Invalid, "a trigger is either a cron_schedule or a periodic_schedule, not both")
	}
	if t.Cron != "" {
		if _, err := expression.Parse(t.Cron); err != nil {
			return apierr.New(apierr.Invalid, "cron %q cannot be read: %v; write five fields (minute hour day month weekday), such as 30 9 * * 1, or six with seconds before them", t.Cron, err)
		}
	}
	if t.Interval < 0 || t.Interval%time.Second != 0 {
		return apierr.New(apierr.Invalid, "interval_second must be at least 1")
	}
	if !t.Start.IsZero() && !t.End.IsZero() && t.End.Before(t.Start) {
		return apierr.New(apierr.Invalid, "the trigger ends (%s) before it starts (%s)", t.End.Format(time.RFC3339), t.Start.Format(time.RFC3339))
	}
	return nil
}

func (t Trigger) equal(u Trigger) bool {
	return t.Cron == u.Cron && t.Interval == u.Interval && t.Start.Equal(u.Start) && t.End.Equal(u.End)
}

// after gives the first time after last that a run is due at; zero: none.
func (t Trigger) after(last time.Time) time.Time {
	var next time.Time
	switch {
	case t.Cron != "":
		s, err := expression.Parse(t.Cron)
		if err != nil { // checked when the schedule was made
			return time.Time{}
		}
		next = s.Next(last.UTC())
	case t.Interval > 0:
		next = last.Add(t.Interval)
	}
	if !t.End.IsZero() && next.After(t.End) {
		return time.Time{}
	}
	return next
}

// newest gives the newest due time that is not after now, given one that is due; long gaps are not walked one by one
// where they need not be.
func (t Trigger) newest(due, now time.Time) time.Time {
	if t.Interval > 0 {
		limit := now
		if !t.End.IsZero() && t.End.Before(now) {
			limit = t.End
		}
		return due.Add(limit.Sub(due).Truncate(t.Interval))
	}
	for next := t.after(due); !next.IsZero() && !next.After(now); next = t.after(due) {
		due = next
	}
	return due
}

// Next gives the time that the schedule's next run is due at, whether or not it is past; zero: none will come.
func (s Schedule) Next() time.Time {
	if s.Trigger.Cron == "" && s.Trigger.Interval == 0 {
		if s.LastAt.IsZero() {
			return s.CreatedAt
		}
		return time.Time{}
	}
	last := s.LastAt
	if last.IsZero() {
		if last = s.CreatedAt; !s.Trigger.Start.IsZero() {
			last = s.Trigger.Start
		}
	}
	return s.Trigger.after(last)
}

// skipTo passes over the times until now, as if they had been dealt with.
func (s *Schedule) skipTo(now time.Time) {
	s.LastAt = time.Time{}
	next := s.Next()
	switch {
	case next.IsZero() || next.After(now):
	case s.Trigger.Cron != "":
		s.LastAt = now
	default:
		s.LastAt = s.Trigger.newest(next, now)
	}
}

// Due gives the time whose run should start now; zero: none.
func (s Schedule) Due(now time.Time) time.Time {
	next := s.Next()
	if !s.Enabled || next.IsZero() || next.After(now) {
		return time.Time{}
	}
	if s.NoCatchup {
		return s.Trigger.newest(next, now)
	}
	return next
}

// maxResource is how much of a schedule's name goes into those of its Workflows (KFP v1).
const maxResource = 25

// resourceName makes of a schedule's name one that Kubernetes takes; id tells schedules of one name apart.
func resourceName(name, id string) string {
	kept := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return -1
	}, strings.ToLower(name))
	kept = strings.Trim(kept[:min(len(kept), maxResource)], "-")
	if kept == "" {
		kept = "job"
	}
	return kept + "-" + id[:5]
}
