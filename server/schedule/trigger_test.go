package schedule

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// t0 is a Friday.
var t0 = time.Date(2027, 1, 1, 12, 0, 0, 0, time.UTC)

func at(d time.Duration) time.Time { return t0.Add(d) }

func TestNext(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		s    Schedule
		want time.Time
	}{
		"once":                         {Schedule{}, t0},
		"once, done":                   {Schedule{LastAt: t0}, time.Time{}},
		"periodic, first":              {Schedule{Trigger: Trigger{Interval: time.Hour}}, at(time.Hour)},
		"periodic, later":              {Schedule{Trigger: Trigger{Interval: time.Hour}, LastAt: at(3 * time.Hour)}, at(4 * time.Hour)},
		"periodic, from a start":       {Schedule{Trigger: Trigger{Interval: time.Hour, Start: at(day)}}, at(day + time.Hour)},
		"periodic, over":               {Schedule{Trigger: Trigger{Interval: time.Hour, End: at(time.Minute)}}, time.Time{}},
		"periodic, to the end":         {Schedule{Trigger: Trigger{Interval: time.Hour, End: at(time.Hour)}}, at(time.Hour)},
		"cron, first":                  {Schedule{Trigger: Trigger{Cron: "30 0 12 * * *"}}, at(30 * time.Second)},
		"cron, not at once":            {Schedule{Trigger: Trigger{Cron: "0 0 12 * * *"}}, at(day)},
		"cron, from a start":           {Schedule{Trigger: Trigger{Cron: "0 0 12 * * *", Start: at(day)}}, at(2 * day)},
		"cron, from before a time":     {Schedule{Trigger: Trigger{Cron: "0 0 12 * * *", Start: at(day - 1)}}, at(day)},
		"cron, later":                  {Schedule{Trigger: Trigger{Cron: "0 0 12 * * *"}, LastAt: at(day)}, at(2 * day)},
		"cron, five fields":            {Schedule{Trigger: Trigger{Cron: "*/5 * * * *"}}, at(5 * time.Minute)},
		"cron, five with a weekday":    {Schedule{Trigger: Trigger{Cron: "15 12 * * FRI"}}, at(15 * time.Minute)},
		"cron, by weekday":             {Schedule{Trigger: Trigger{Cron: "0 0 0 ? * MON"}}, at(2*day + 12*time.Hour)},
		"cron, by word":                {Schedule{Trigger: Trigger{Cron: "@hourly"}}, at(time.Hour)},
		"cron, over":                   {Schedule{Trigger: Trigger{Cron: "0 0 12 * * *", End: at(time.Hour)}}, time.Time{}},
		"cron, on a day that is never": {Schedule{Trigger: Trigger{Cron: "0 0 0 30 2 *"}}, time.Time{}},
	} {
		c.s.CreatedAt = t0
		require.NoError(t, c.s.Trigger.check(), name)
		require.Equal(t, c.want, c.s.Next(), name)
	}
}

func TestDue(t *testing.T) {
	t.Parallel()
	now := at(10*time.Minute + time.Second)
	for name, c := range map[string]struct {
		s    Schedule
		want time.Time
	}{
		"disabled":                    {Schedule{Trigger: Trigger{Interval: time.Minute}}, time.Time{}},
		"one after the other":         {Schedule{Enabled: true, Trigger: Trigger{Interval: time.Minute}}, at(time.Minute)},
		"the newest alone":            {Schedule{Enabled: true, NoCatchup: true, Trigger: Trigger{Interval: time.Minute}}, at(10 * time.Minute)},
		"the newest before the end":   {Schedule{Enabled: true, NoCatchup: true, Trigger: Trigger{Interval: time.Minute, End: at(5*time.Minute + 1)}}, at(5 * time.Minute)},
		"the newest, by cron":         {Schedule{Enabled: true, NoCatchup: true, Trigger: Trigger{Cron: "0 * * * * *"}}, at(10 * time.Minute)},
		"the newest of a cron's end":  {Schedule{Enabled: true, NoCatchup: true, Trigger: Trigger{Cron: "0 * * * * *", End: at(4 * time.Minute)}}, at(4 * time.Minute)},
		"not yet":                     {Schedule{Enabled: true, Trigger: Trigger{Interval: time.Hour}}, time.Time{}},
		"not before the start":        {Schedule{Enabled: true, Trigger: Trigger{Interval: time.Minute, Start: at(10 * time.Minute)}}, time.Time{}},
		"catching up to before birth": {Schedule{Enabled: true, Trigger: Trigger{Interval: time.Minute, Start: at(-time.Hour)}}, at(-59 * time.Minute)},
	} {
		c.s.CreatedAt = t0
		require.Equal(t, c.want, c.s.Due(now), name)
	}
}

// TestDueNever checks what holds for any trigger: what is due is past, and dealing with it moves on.
func TestDueNever(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		s := Schedule{
			Enabled: true, CreatedAt: t0, NoCatchup: rapid.Bool().Draw(r, "no catch-up"),
			Trigger: Trigger{Interval: time.Duration(rapid.Int64Range(1, 1e5).Draw(r, "interval")) * time.Second},
		}
		if rapid.Bool().Draw(r, "cron") {
			s.Trigger = Trigger{Cron: rapid.SampledFrom([]string{"* * * * * *", "*/7 * * * * *", "0 0 */3 * * *", "@daily"}).Draw(r, "expression")}
		}
		now := at(time.Duration(rapid.Int64Range(0, 5e4).Draw(r, "now")) * time.Second)
		for range 5 {
			due := s.Due(now)
			if due.IsZero() {
				if next := s.Next(); !next.IsZero() && !next.After(now) {
					r.Fatalf("nothing is due at %s, and yet the next is %s", now, next)
				}
				return
			}
			if due.After(now) || !due.After(s.LastAt) {
				r.Fatalf("due %s, now %s, last %s", due, now, s.LastAt)
			}
			if s.LastAt = due; s.NoCatchup && !s.Due(now).IsZero() {
				r.Fatalf("after the newest, %s, there is a newer one, %s", due, s.Due(now))
			}
		}
	})
}

func TestResourceName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Nightly Train": "nightlytrain-abcde", "--a_b--": "ab-abcde", "日本": "job-abcde",
		"a very long name that goes on and on": "averylongnamethatgoesonan-abcde",
	} {
		require.Equal(t, want, resourceName(name, "abcdefgh"))
	}
}

func FuzzCron(f *testing.F) {
	for _, text := range []string{"0 0 12 * * *", "@every 1s", "CRON_TZ=Asia/Tokyo 0 0 0 * * *", "*/0 * * * * *", "0-5/2 1,2 ? JAN-MAR SUN#1 7"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		trigger := Trigger{Cron: text}
		if text == "" || trigger.check() != nil {
			return
		}
		if next := trigger.after(t0); !next.IsZero() && !next.After(t0) {
			t.Fatalf("%q: %s does not come after %s", text, next, t0)
		}
	})
}
