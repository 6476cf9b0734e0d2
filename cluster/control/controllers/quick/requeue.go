package quick

import (
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/argoproj/argo-workflows/v3/workflow/common"
)

// How long Argo waits before it looks at a workflow that changed. Each look at a large workflow, or at many, takes the time that their
// steps need; a look at a small one takes next to none, and the wait is most of what a short step takes.
const (
	paceFirst = time.Second // until it has written one
	paceLeast = 2 * time.Millisecond
	paceMost  = 200 * time.Millisecond
	paceSpan  = 100 * time.Millisecond // the past that counts
	paceBytes = 4 << 10                // of workflows written in that time, for each millisecond more
)

// pace sets Argo's wait by how much of workflows it writes. Argo reads the variable each time.
type pace struct {
	mu      sync.Mutex
	written []writing // oldest first
	sum     int64
}

type writing struct {
	at    time.Time
	bytes int64
}

// keepPace sets the wait from now on, unless it was chosen.
//
// It is long at first because of workflows whose pods an earlier controller made and could not write down before it was killed. The
// first look at such a workflow finds the pod and notes it as pending. If the pod has ended, no news of it follows, so the workflow would
// stay as it is for 20 minutes: the news of pods that are there at the start must cause a second look.
func keepPace(cfg *rest.Config) error {
	if os.Getenv(common.EnvVarDefaultRequeueTime) != "" {
		return nil
	}
	p := &pace{}
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(req *http.Request) (*http.Response, error) {
			if (req.Method == http.MethodPut || req.Method == http.MethodPatch) && strings.Contains(req.URL.Path, "/workflows/") {
				_ = setPace(p.wait(time.Now(), req.ContentLength)) // the name is right: it cannot fail
			}
			return next.RoundTrip(req)
		})
	})
	return setPace(paceFirst)
}

func setPace(d time.Duration) error {
	return os.Setenv(common.EnvVarDefaultRequeueTime, d.String())
}

// wait is how long to wait after so many bytes more.
func (p *pace) wait(now time.Time, bytes int64) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.written) > 0 && now.Sub(p.written[0].at) > paceSpan {
		p.sum -= p.written[0].bytes
		p.written = p.written[1:]
	}
	p.written = append(p.written, writing{now, max(0, bytes)})
	p.sum += max(0, bytes)
	return min(paceMost, paceLeast+time.Duration(p.sum)*time.Millisecond/paceBytes)
}
