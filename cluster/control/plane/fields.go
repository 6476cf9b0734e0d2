package plane

import (
	"context"
	"io"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	genericoptions "k8s.io/apiserver/pkg/server/options"
)

// fieldOwners is the name of an admission plugin that spares the apiserver a fifth of its work: with every write
// the apiserver records which client set which field (metadata.managedFields). Only server-side apply uses that.
const fieldOwners = "ArgosyFieldOwners"

// unowned are the kinds whose objects programs make by the thousand and people rarely apply. Of those that are made
// without server-side apply no owners are noted; the apiserver leaves it at that with later writes. Who applies one
// nevertheless finds all its fields owned by "before-first-apply", as those of an object from before there was such an apply.
var unowned = map[schema.GroupResource]bool{
	{Resource: "pods"}:                                      true,
	{Resource: "events"}:                                    true,
	{Group: "events.k8s.io", Resource: "events"}:            true,
	{Group: "argoproj.io", Resource: "workflows"}:           true,
	{Group: "argoproj.io", Resource: "workflowtaskresults"}: true,
	{Group: "argoproj.io", Resource: "workflowtasksets"}:    true,
}

func registerFieldOwners(o *genericoptions.AdmissionOptions) {
	o.Plugins.Register(fieldOwners, func(io.Reader) (admission.Interface, error) {
		return forgetOwners{admission.NewHandler(admission.Create)}, nil
	})
	o.RecommendedPluginOrder = append([]string{fieldOwners}, o.RecommendedPluginOrder...)
}

type forgetOwners struct{ *admission.Handler }

// Admit takes the owners that the apiserver has noted off a new object.
func (forgetOwners) Admit(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetSubresource() != "" || !unowned[a.GetResource().GroupResource()] {
		return nil
	}
	object, err := meta.Accessor(a.GetObject())
	if err != nil {
		return err
	}
	for _, entry := range object.GetManagedFields() {
		if entry.Operation == metav1.ManagedFieldsOperationApply {
			return nil
		}
	}
	object.SetManagedFields(nil)
	return nil
}
