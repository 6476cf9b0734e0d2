package test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
)

func TestPortForward(t *testing.T) {
	t.Parallel()
	c := shared(t)
	server := c.podserver(t)
	// On the pod's loopback, which other pods' packets cannot reach.
	c.createPod(t, podOf("server", "exec "+server+" -listen 127.0.0.1:8080"))
	c.awaitLog(t, "server", "listening")
	url := c.kube.CoreV1().RESTClient().Post().Resource("pods").Namespace(c.namespace).Name("server").SubResource("portforward").URL()

	transport, upgrader, err := spdy.RoundTripperFor(c.config)
	require.NoError(t, err)
	websocket, err := portforward.NewSPDYOverWebsocketDialer(url, c.config)
	require.NoError(t, err)
	for name, dialer := range map[string]httpstream.Dialer{
		"SPDY":      spdy.NewDialer(upgrader, &http.Client{Transport: transport}, "POST", url),
		"WebSocket": websocket, // what kubectl speaks
	} {
		t.Run(name, func(t *testing.T) {
			port, end := c.forward(t, dialer, "0:8080")
			for i := range 5 {
				resp, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/%s/%d", port, name, i))
				require.NoError(t, err)
				b, err := io.ReadAll(resp.Body)
				require.NoError(t, err)
				require.NoError(t, resp.Body.Close())
				require.Regexp(t, fmt.Sprintf(`^127\.0\.0\.1:\d+ GET /%s/%d `, name, i), string(b))
			}
			require.NoError(t, end())
			port, end = c.forward(t, dialer, "0:8081")
			_, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/", port))
			require.Error(t, err, "nobody listens there")
			_ = end() // some clients end a session with an error, others do not
		})
	}
	c.createPod(t, podOf("over", "true"))
	c.awaitPod(t, "over", "ends", ended)
	url = c.kube.CoreV1().RESTClient().Post().Resource("pods").Namespace(c.namespace).Name("over").SubResource("portforward").URL()
	_, _, err = spdy.NewDialer(upgrader, &http.Client{Transport: transport}, "POST", url).Dial(portforward.PortForwardProtocolV1Name)
	require.ErrorContains(t, err, "does not run")
}

// forward forwards a port of this machine until end is called.
func (c *cluster) forward(t *testing.T, dialer httpstream.Dialer, port string) (local uint16, end func() error) {
	t.Helper()
	stop, ready, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	var out bytes.Buffer
	f, err := portforward.NewOnAddresses(dialer, []string{"127.0.0.1"}, []string{port}, stop, ready, &out, &out)
	require.NoError(t, err)
	go func() { done <- f.ForwardPorts() }()
	select {
	case <-ready:
	case err := <-done:
		require.NoError(t, err)
	}
	ports, err := f.GetPorts()
	require.NoError(t, err)
	return ports[0].Local, func() error {
		close(stop)
		return <-done
	}
}
