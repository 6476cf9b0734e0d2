package engine

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// apart warns of distributed jobs whose pods are placed one by one.
func (e *Engine) apart(ctx context.Context, namespace string, demands []stepDemand) (risks []string) {
	var volcanoAsked, volcanoThere bool
	for _, d := range demands {
		pods := 0
		for _, g := range d.Groups {
			pods += g.Replicas
		}
		if pods < 2 {
			continue
		}
		why := "gang is off"
		if d.Together {
			if !volcanoAsked {
				volcanoAsked, volcanoThere = true, e.hasVolcano(ctx, namespace)
			}
			if volcanoThere {
				continue
			}
			why = "the cluster has no Volcano"
		}
		risk := fmt.Sprintf("step %s: its %d pods are placed one by one, as %s: when there is room for some of them only, these hold it and wait for the others, "+
			"and two such jobs can block each other for ever", d.step, pods, why)
		if !slices.Contains(risks, risk) && len(risks) < maxShortages {
			risks = append(risks, risk)
		}
	}
	return risks
}

// hasVolcano tells whether the cluster knows gangs; where that cannot be found out, it does.
func (e *Engine) hasVolcano(ctx context.Context, namespace string) bool {
	bounded, cancel := context.WithTimeout(ctx, warnTimeout)
	defer cancel()
	_, err := e.dynamic.Resource(podGroupResource).Namespace(namespace).List(bounded, metav1.ListOptions{Limit: 1})
	return !apierrors.IsNotFound(err)
}
