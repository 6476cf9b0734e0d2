package test

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// A cluster that has nothing to do asks its apiserver for nothing but heartbeats of its node, and now and then what kinds there are.
func TestIdleClusterIsQuiet(t *testing.T) {
	t.Parallel()
	c := up(t, t.TempDir())
	expected := map[string]bool{
		"PATCH leases": true,                   // the node lives
		"GET api":      true, "GET apis": true, // the garbage collector and quotas look for new kinds
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	heartbeats, err := c.kube.CoordinationV1().Leases(corev1.NamespaceNodeLease).Watch(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	defer heartbeats.Stop()
	var others []string
	for before := c.requests(t); ; { // what the start left to do may take some heartbeats
		select {
		case e := <-heartbeats.ResultChan():
			if e.Type != watch.Modified {
				continue
			}
		case <-ctx.Done():
			t.Fatalf("no heartbeat passes without %v", others)
		}
		now := c.requests(t)
		others = nil
		for what, n := range now {
			if n > before[what] && !expected[what] {
				others = append(others, fmt.Sprintf("%s (%d)", what, n-before[what]))
			}
		}
		if now["PATCH leases"] > before["PATCH leases"] && len(others) == 0 {
			return
		}
		before = now
	}
}

// Timers for measurements without a reader are off.
func TestNothingIsMeasuredForNobody(t *testing.T) {
	t.Parallel()
	c := shared(t)
	metrics := c.metrics(t)
	require.NotContains(t, metrics, "\nworkqueue_", "each queue has a timer of its own")
	require.NotContains(t, metrics, "\napiserver_resource_objects", "all objects are counted each minute")
	require.NotContains(t, metrics, "\napiserver_storage_objects", "all objects are counted each minute")
	leases, err := c.kube.CoordinationV1().Leases(metav1.NamespaceSystem).List(t.Context(), metav1.ListOptions{LabelSelector: "apiserver.kubernetes.io/identity"})
	require.NoError(t, err)
	require.Empty(t, leases.Items, "there is no other apiserver to be told of this one")
}

var requestCount = regexp.MustCompile(`(?m)^apiserver_request_total\{.*resource="([^"]*)".*subresource="([^"]*)".*verb="([^"]*)".*\} (\S+)$`)

// requests are how many of each kind the apiserver has answered, such as "PATCH leases". Watches do not count: they are opened again every few minutes.
func (c *cluster) requests(t *testing.T) map[string]int {
	t.Helper()
	all := map[string]int{}
	for _, m := range requestCount.FindAllStringSubmatch(c.metrics(t), -1) {
		n, err := strconv.ParseFloat(m[4], 64)
		require.NoError(t, err)
		if m[3] != "WATCH" {
			all[strings.TrimSpace(m[3]+" "+strings.Trim(m[1]+"/"+m[2], "/"))] += int(n)
		}
	}
	require.NotEmpty(t, all)
	return all
}

func (c *cluster) metrics(t *testing.T) string {
	t.Helper()
	text, err := c.kube.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(t.Context())
	require.NoError(t, err)
	return string(text)
}
