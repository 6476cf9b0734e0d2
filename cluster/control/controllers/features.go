package controllers

import (
	"k8s.io/apiserver/pkg/util/compatibility"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/kubernetes/pkg/features"
)

// Features of Kubernetes that have no use here, each with a handful of watches.
var unusedFeatures = map[string]bool{
	string(features.DynamicResourceAllocation): false, // devices are counted resources
}

// setFeatures settles the process's feature gates, once and before anything asks for one: the gates are
// global, and setting them later is an error.
func setFeatures() error {
	registry := compatibility.DefaultComponentGlobalsRegistry
	if registry.EffectiveVersionFor(basecompatibility.DefaultKubeComponent) == nil {
		version := compatibility.DefaultBuildEffectiveVersion()
		if err := registry.Register(basecompatibility.DefaultKubeComponent, version, utilfeature.DefaultMutableFeatureGate); err != nil {
			return err
		}
	}
	if err := registry.Set(); err != nil {
		return err
	}
	return utilfeature.DefaultMutableFeatureGate.SetFromMap(unusedFeatures)
}
