package etc

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestHostname(t *testing.T) {
	t.Parallel()
	long := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "ns"}}
	long.Name = strings.Repeat("x", 62) + "-yz"
	require.Equal(t, strings.Repeat("x", 62), Hostname(long))
	long.Spec.Hostname = "h"
	require.Equal(t, "h", Hostname(long))
}
