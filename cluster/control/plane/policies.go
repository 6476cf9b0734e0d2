package plane

import (
	"context"
	"io"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/warning"
)

// policyWarnings is the name of an admission plugin that warns the authors of network policies, which the cluster stores and does not enforce.
const policyWarnings = "ArgosyPolicyWarnings"

var networkPolicies = schema.GroupResource{Group: "networking.k8s.io", Resource: "networkpolicies"}

func registerPolicyWarnings(o *genericoptions.AdmissionOptions) {
	o.Plugins.Register(policyWarnings, func(io.Reader) (admission.Interface, error) {
		return policyWarner{admission.NewHandler(admission.Create, admission.Update)}, nil
	})
	o.RecommendedPluginOrder = append(o.RecommendedPluginOrder, policyWarnings)
}

type policyWarner struct{ *admission.Handler }

// Validate accepts everything.
func (policyWarner) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetResource().GroupResource() == networkPolicies && a.GetSubresource() == "" {
		warning.AddWarning(ctx, "", "the embedded cluster stores this NetworkPolicy and does not enforce it: every pod still reaches every other pod")
	}
	return nil
}
