package dsl

import (
	"slices"
	"strconv"
	"time"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// RetryPolicy selects the failures that are retried.
type RetryPolicy string

// The retry policies.
const (
	RetryOnFailure        RetryPolicy = "OnFailure"        // the program failed
	RetryOnError          RetryPolicy = "OnError"          // the cluster did: a node was lost, a pod evicted
	RetryOnTransientError RetryPolicy = "OnTransientError" // the cluster did, in a way that passes
	RetryAlways           RetryPolicy = "Always"
)

// Backoff sets the pauses before retries.
type Backoff struct {
	// Wait is the pause before the first retry. Each further pause is Factor times longer (default 2), up to MaxWait.
	Wait    Value[time.Duration]
	Factor  int
	MaxWait Value[time.Duration]
	// MaxTime is the time from the first attempt after which no retry starts.
	MaxTime Value[time.Duration]
}

// Retry sets how often and when a failed step runs again.
type Retry struct {
	// Limit is the number of attempts after the first.
	Limit  Value[int]
	Policy RetryPolicy // RetryOnFailure unless set, or RetryAlways with When
	Backoff
	// When is an Argo expression that must be true for a retry, as in "asInt(lastRetry.exitCode) == 75".
	When string
}

// Retries tries the step again when it fails.
func Retries(r Retry) StepOption {
	return podOption("Retries", func(s *Step, pod *graph.Pod) {
		if known, ok := Known(r.Limit); ok {
			if n, err := strconv.Atoi(known); err == nil && n < 0 {
				s.Fault("Retries: Limit is %d: it must be at least 0", n)
			}
		}
		if !slices.Contains([]RetryPolicy{"", RetryOnFailure, RetryOnError, RetryOnTransientError, RetryAlways}, r.Policy) {
			s.Fault("Retries: Policy is %q: it must be OnFailure, OnError, OnTransientError or Always", r.Policy)
		}
		out := &graph.Retry{Limit: s.text("Retries Limit", r.Limit), Policy: string(r.Policy), When: r.When}
		s.pipeline.checkConstant(s.node, "Retries When", r.When, false)
		if b := r.Backoff; b.Wait.IsSet() {
			out.Wait, out.MaxWait, out.MaxTime = s.duration("Wait", b.Wait), s.duration("MaxWait", b.MaxWait), s.duration("MaxTime", b.MaxTime)
			if out.Factor = b.Factor; b.Factor == 0 {
				out.Factor = 2
			}
		} else if b.Factor != 0 || b.MaxWait.IsSet() || b.MaxTime.IsSet() {
			s.Fault("Retries: a backoff needs Wait, the time before the first retry")
		}
		if r.Factor < 0 {
			s.Fault("Retries: Factor is %d: it must be at least 1", r.Factor)
		}
		pod.Retry = out
	})
}

func (s *Step) duration(what string, d Value[time.Duration]) graph.Text {
	if !d.IsSet() {
		return nil
	}
	if known, ok := Known(d); ok {
		if t, err := time.ParseDuration(known); err != nil || t <= 0 {
			s.Fault("Retries: %s is %s: it must be more than nothing", what, known)
		}
	}
	return s.text("Retries "+what, d)
}

// NoCache runs the step even if the cache has outputs of an equal step (see [CacheFor]).
func NoCache() StepOption {
	return podOption("NoCache", func(_ *Step, pod *graph.Pod) { pod.Cache = &graph.Cache{Off: true} })
}

// CacheFor sets the greatest age of cached outputs: instead of running, the step takes the outputs of an earlier equal step that are not
// older. Zero, the default, means any age. Two steps are equal if they have the same container (image, command, arguments, environment,
// mounts), inputs and names of outputs; artifacts must be the same objects.
func CacheFor(age time.Duration) StepOption {
	return podOption("CacheFor", func(s *Step, pod *graph.Pod) {
		if age < 0 {
			s.Fault("CacheFor is %s: it must not be negative", age)
		}
		c := cache(pod)
		if c.MaxAge = age.String(); age == 0 {
			c.MaxAge = ""
		}
	})
}

// CacheKey takes the outputs, values and files, of an earlier run of this step in this pipeline with the same key, whatever else has
// changed. [CacheFor] limits their age.
func CacheKey(key Value[string]) StepOption {
	return podOption("CacheKey", func(s *Step, pod *graph.Pod) {
		if known, ok := Known(key); ok && known == "" && len(key.recorded().refs()) == 0 {
			s.Fault("CacheKey is empty: use NoCache for no cache")
		}
		cache(pod).Key = s.text("CacheKey", key)
	})
}

func cache(pod *graph.Pod) *graph.Cache {
	if pod.Cache == nil {
		pod.Cache = &graph.Cache{}
	}
	pod.Cache.Off = false
	return pod.Cache
}
