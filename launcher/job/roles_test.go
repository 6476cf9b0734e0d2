package job_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/argosy-ml/argosy/launcher/job"
)

// The manifests give steps and the server the rights that they need for jobs of every kind.
func TestRolesHaveAllKinds(t *testing.T) {
	t.Parallel()
	follows := []string{"create", "get", "list", "watch", "delete"}
	for file, verbs := range map[string][]string{"base/runner.yaml": follows, "strict/role.yaml": follows, "base/server.yaml": {"list"}} {
		rules := rulesOf(t, "../../manifests/"+file)
		for _, kind := range job.Kinds() {
			for _, verb := range verbs {
				require.True(t, slices.ContainsFunc(rules, func(r rbacv1.PolicyRule) bool {
					return slices.Contains(r.APIGroups, kind.GVR().Group) && slices.Contains(r.Verbs, verb) &&
						(slices.Contains(r.Resources, kind.GVR().Resource) || slices.Contains(r.Resources, "*"))
				}), "%s: %s of %s", file, verb, kind.GVR().GroupResource())
			}
		}
	}
}

// rulesOf are the rules of all roles in a file.
func rulesOf(t *testing.T, file string) (rules []rbacv1.PolicyRule) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for objects := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		var role rbacv1.Role
		err := objects.Decode(&role)
		if errors.Is(err, io.EOF) {
			require.NotEmpty(t, rules, file)
			return rules
		}
		require.NoError(t, err)
		if role.Kind == "Role" {
			rules = append(rules, role.Rules...)
		}
	}
}
