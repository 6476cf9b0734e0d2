package controllers

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/authn/k8schain"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"volcano.sh/volcano/pkg/scheduler/metrics/source"
)

// Volcano queries Elasticsearch through lean/elasticsearch.
func TestVolcanoReadsElasticsearch(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		assert.Equal(t, []string{"me", "secret"}, []string{user, password})
		assert.Equal(t, "/load-*/_search", r.URL.Path)
		query, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		assert.Contains(t, string(query), `"node-7"`)
		_, err = io.WriteString(w, `{"aggregations":{"cpu":{"value":0.25},"mem":{"value":0.5}}}`)
		assert.NoError(t, err)
	}))
	t.Cleanup(server.Close)
	client, err := source.NewElasticsearchMetricsClient(map[string]string{
		"address": server.URL, "elasticsearch.index": "load-*", "elasticsearch.username": "me", "elasticsearch.password": "secret",
	})
	require.NoError(t, err)
	load, err := client.NodeMetricsAvg(t.Context(), "node-7")
	require.NoError(t, err)
	require.InDelta(t, 25, load.CPU, 0)
	require.InDelta(t, 50, load.Memory, 0)

	_, err = source.NewElasticsearchMetricsClient(map[string]string{"address": "localhost"})
	require.ErrorContains(t, err, `"localhost" is not a URL`)
}

// Argo looks up the commands of images with a pod's credentials, through lean/k8schain.
func TestArgoLooksUpImagesWithAPodsCredentials(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "registry", Namespace: "team"},
		Type:       corev1.SecretTypeDockerConfigJson,
		Data:       map[string][]byte{corev1.DockerConfigJsonKey: []byte(`{"auths":{"registry.example.com":{"username":"me","password":"secret"}}}`)},
	}, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default", Namespace: "team"}})
	keys, err := k8schain.New(t.Context(), client, k8schain.Options{Namespace: "team", ImagePullSecrets: []string{"registry"}})
	require.NoError(t, err)
	image, err := name.ParseReference("registry.example.com/team/train:1")
	require.NoError(t, err)
	key, err := keys.Resolve(image.Context())
	require.NoError(t, err)
	got, err := key.Authorization()
	require.NoError(t, err)
	require.Equal(t, &authn.AuthConfig{Username: "me", Password: "secret"}, got)
}
