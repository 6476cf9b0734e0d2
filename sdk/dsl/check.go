package dsl

import (
	"fmt"
	"regexp"
)

// The forms of names and quantities in Kubernetes.
var (
	objectName    = regexp.MustCompile(`^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$`)
	qualifiedName = regexp.MustCompile(`^([a-z0-9]([-.a-z0-9]*[a-z0-9])?/)?[a-zA-Z0-9]([-_.a-zA-Z0-9]{0,61}[a-zA-Z0-9])?$`)
	labelValue    = regexp.MustCompile(`^([a-zA-Z0-9]([-_.a-zA-Z0-9]{0,61}[a-zA-Z0-9])?)?$`)
	amount        = regexp.MustCompile(`^([0-9]+\.?[0-9]*|\.[0-9]+)([numkMGTPE]|[KMGTPE]i|[eE][0-9]+)?$`)
)

func badName(name string) string {
	return fmt.Sprintf("%q is not the name of an object in Kubernetes: use lower-case letters, digits, . and -", name)
}

func checkKey(what, key string, fault func(string, ...any)) {
	if !qualifiedName.MatchString(key) {
		fault("%s: %q is not a Kubernetes name such as example.com/key", what, key)
	}
}

func checkLabel(what, key string, v AnyValue, fault func(string, ...any)) {
	checkKey(what, key, fault)
	if known, ok := Known(v); ok && !labelValue.MatchString(known) {
		fault("%s: the value %q of %s must be letters, digits, -, _ and ., at most 63", what, known, key)
	}
}

// checkQuantity reports a quantity that is known already and wrong.
func checkQuantity(what string, v AnyValue, fault func(string, ...any)) {
	if known, ok := Known(v); ok && !amount.MatchString(known) {
		if known == "" && len(v.recorded().refs()) > 0 {
			return // a parameter, known when a run starts
		}
		fault("%s is %q: it must be a quantity such as 500m, 2 or 10Gi", what, known)
	}
}
