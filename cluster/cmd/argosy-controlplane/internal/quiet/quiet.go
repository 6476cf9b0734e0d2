// Package quiet keeps Argo's packages from logging while they are initialised:
// they are linked into every command of this binary, and `version` should
// print versions only.
//
// It imports nothing but logrus, so it is initialised before they are.
package quiet

import "github.com/sirupsen/logrus"

func init() { logrus.SetLevel(logrus.WarnLevel) }
