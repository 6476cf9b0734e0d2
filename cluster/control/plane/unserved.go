package plane

import (
	"context"
	"errors"
	"io"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	genericoptions "k8s.io/apiserver/pkg/server/options"
)

// refuseUnserved is the name of an admission plugin that refuses objects that their authors rely on and no controller here acts on.
const refuseUnserved = "ArgosyRefuseUnserved"

// unserved are the kinds that are refused, with what their author has to know.
var unserved = map[schema.GroupResource]string{
	admissionKind("validatingwebhookconfigurations"):   "this cluster calls no admission webhooks, so nothing would be checked: use a cluster with webhooks",
	admissionKind("mutatingwebhookconfigurations"):     "this cluster calls no admission webhooks, so nothing would be changed: use a cluster with webhooks",
	admissionKind("validatingadmissionpolicies"):       "this cluster evaluates no admission policies, so nothing would be checked: use a cluster with them",
	admissionKind("validatingadmissionpolicybindings"): "this cluster evaluates no admission policies, so nothing would be checked: use a cluster with them",
}

func admissionKind(resource string) schema.GroupResource {
	return schema.GroupResource{Group: "admissionregistration.k8s.io", Resource: resource}
}

func registerRefuseUnserved(o *genericoptions.AdmissionOptions) {
	o.Plugins.Register(refuseUnserved, func(io.Reader) (admission.Interface, error) {
		return refusing{admission.NewHandler(admission.Create)}, nil
	})
	o.RecommendedPluginOrder = append(o.RecommendedPluginOrder, refuseUnserved)
}

type refusing struct{ *admission.Handler }

// Admit refuses the kinds of unserved, before anything else is found wrong with them.
func (refusing) Admit(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if why, refused := unserved[a.GetResource().GroupResource()]; refused {
		return admission.NewForbidden(a, errors.New(why))
	}
	return nil
}
