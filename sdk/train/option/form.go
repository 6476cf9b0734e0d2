package option

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Form is what the text of an option must be. An empty text is not set, whatever the form.
type Form struct {
	// Many lets the option be given several times.
	Many bool
	// Words are the values there are, or those to suggest.
	Words []string

	least int                          // of whole numbers
	key   func(string) error           // of texts KEY=VALUE; nil for others
	read  func(string) (string, error) // checks a value and gives it as it is usually written
}

// Keyed tells whether texts are KEY=VALUE.
func (f Form) Keyed() bool { return f.key != nil }

// Read checks a value and gives it as it is usually written: true for True, 1h0m0s for 60m.
func (f Form) Read(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	return f.read(text)
}

// CheckKey checks the key of a keyed option.
func (f Form) CheckKey(key string) error { return f.key(key) }

// ReadPair reads KEY=VALUE.
func (f Form) ReadPair(text string) (key, value string, err error) {
	key, value, ok := strings.Cut(text, "=")
	if !ok {
		return "", "", fmt.Errorf("%q has no value: write KEY=VALUE", text)
	}
	if err := f.key(key); err != nil {
		return "", "", err
	}
	if value, err = f.Read(value); err != nil {
		return "", "", fmt.Errorf("%s: %w", key, err)
	}
	return key, value, nil
}

func (f Form) many() Form { f.Many = true; return f }

func (f Form) suggesting(words ...string) Form { f.Words = words; return f }

// anyCase accepts the words in capitals or small letters.
func (f Form) anyCase() Form {
	exact, words := f.read, f.Words
	f.read = func(text string) (string, error) {
		if i := slices.IndexFunc(words, func(w string) bool { return strings.EqualFold(w, text) }); i >= 0 {
			return words[i], nil
		}
		return exact(text)
	}
	return f
}

// Pairs are texts KEY=VALUE.
func Pairs(key func(string) error, value Form) Form {
	return Form{Many: true, key: key, read: value.read}
}

// The forms of single values.
var (
	// Text is anything.
	Text = checked(func(string) error { return nil })
	// Truth is true or false; Python writes True.
	Truth = Form{Words: []string{"true", "false"}, read: func(text string) (string, error) {
		b, err := strconv.ParseBool(strings.ToLower(text))
		if err != nil {
			return "", fmt.Errorf("%q is neither true nor false", text)
		}
		return strconv.FormatBool(b), nil
	}}
	// Time is a duration of 0 or more.
	Time = Form{read: func(text string) (string, error) {
		d, err := time.ParseDuration(text)
		switch {
		case err != nil:
			return "", fmt.Errorf("%q is not a duration: write it as 90s, 30m or 12h", text)
		case d < 0:
			return "", fmt.Errorf("must not be negative, and is %s", text)
		}
		return d.String(), nil
	}}
	// Port is a TCP port; 0 is not set.
	Port = checked(func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("%q is not a whole number", text)
		}
		if n < 0 || n > 65535 {
			return fmt.Errorf("must be a port, 1 to 65535, not %d", n)
		}
		return nil
	})
	// Quantity is one of Kubernetes, 0 or more. https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity
	Quantity = checked(func(text string) error {
		if !quantity.MatchString(text) {
			return fmt.Errorf("%q is not a quantity: write it as 500m, 2, 512Mi or 10Gi", text)
		}
		if strings.HasPrefix(text, "-") {
			return fmt.Errorf("must not be negative, and is %s", text)
		}
		return nil
	})
	// Folder is an absolute path.
	Folder = Form{read: func(text string) (string, error) {
		if !path.IsAbs(text) {
			return "", fmt.Errorf("%q is not an absolute path", text)
		}
		return path.Clean(text), nil
	}}
	// Object is the name of an object of Kubernetes, a DNS subdomain (RFC 1123).
	Object = checked(objectName)
	// Runtime is a ClusterTrainingRuntime of Kubeflow Trainer, or a TrainingRuntime, which is of a namespace.
	Runtime = checked(func(text string) error { return objectName(strings.TrimPrefix(text, NamespacedRuntime)) })
	// Label is the value of a label.
	Label = checked(labelValue)
	// Entry is an entry of a secret, SECRET/KEY.
	Entry = checked(func(text string) error {
		secret, key, _ := strings.Cut(text, "/")
		if objectName(secret) != nil || !entryKey.MatchString(key) || len(key) > 253 || key == "." || strings.HasPrefix(key, "..") {
			return fmt.Errorf("%q is not an entry of a secret: write NAME=SECRET/KEY", text)
		}
		return nil
	})
)

// NamespacedRuntime is how texts of the form Runtime begin that name a TrainingRuntime.
const NamespacedRuntime = "TrainingRuntime/"

// Whole is a whole number of at least so much, in 32 bits. Where 0 is too little, the launcher takes it for not set.
func Whole(least int) Form {
	f := checked(func(text string) error {
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return fmt.Errorf("%q is not a whole number", text)
		}
		if int(n) < least {
			return fmt.Errorf("must be at least %d, not %d", least, n)
		}
		return nil
	})
	f.least = least
	return f
}

// OneOf is one of some words.
func OneOf(words ...string) Form {
	f := checked(func(text string) error {
		if slices.Contains(words, text) {
			return nil
		}
		last := len(words) - 1
		if last == 1 {
			return fmt.Errorf("%q is neither %s nor %s", text, words[0], words[1])
		}
		return fmt.Errorf("%q is not one of %s and %s", text, strings.Join(words[:last], ", "), words[last])
	})
	f.Words = words
	return f
}

func checked(check func(string) error) Form {
	return Form{read: func(text string) (string, error) { return text, check(text) }}
}

var (
	quantity  = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]+)?$`)
	subdomain = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	qualified = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`)
	variable  = regexp.MustCompile(`^[-._a-zA-Z][-._a-zA-Z0-9]*$`)
	entryKey  = regexp.MustCompile(`^[-._a-zA-Z0-9]+$`)
	role      = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
)

// The rules of Kubernetes for names: https://kubernetes.io/docs/concepts/overview/working-with-objects/names and labels there.

func objectName(text string) error {
	if len(text) > 253 || !subdomain.MatchString(text) {
		return fmt.Errorf("%q is not the name of an object: use lower-case letters, digits, . and -", text)
	}
	return nil
}

func labelName(text string) error {
	name := text
	if prefix, rest, ok := strings.Cut(text, "/"); ok {
		name = rest
		if objectName(prefix) != nil {
			name = ""
		}
	}
	if len(name) > 63 || !qualified.MatchString(name) {
		return fmt.Errorf("%q is not a Kubernetes name such as example.com/key", text)
	}
	return nil
}

func labelValue(text string) error {
	if text != "" && (len(text) > 63 || !qualified.MatchString(text)) {
		return fmt.Errorf("%q is not the value of a label: use letters, digits, -, _ and ., at most 63", text)
	}
	return nil
}

func resourceName(text string) error {
	if labelName(text) != nil {
		return fmt.Errorf("%q is not a resource such as example.com/gpu", text)
	}
	return nil
}

func variableName(text string) error {
	if !variable.MatchString(text) || text == "." || strings.HasPrefix(text, "..") {
		return fmt.Errorf("%q is not the name of a variable: use letters, digits and _", text)
	}
	return nil
}

// RoleName checks the name of a role of a job.
func RoleName(text string) error {
	if len(text) > 63 || !role.MatchString(text) {
		return fmt.Errorf("%q is not the name of a role: use lower-case letters, digits and -", text)
	}
	return nil
}

// Toleration is a taint that pods tolerate.
type Toleration struct{ Key, Operator, Value, Effect string }

// Tolerations are Arena's KEY=VALUE:EFFECT,OPERATOR, where all but KEY may be left out; "all" is any taint.
var Tolerations = checked(func(text string) error { _, err := ReadToleration(text); return err }).many()

// ReadToleration reads a text of the form Tolerations.
func ReadToleration(text string) (Toleration, error) {
	if text == "all" {
		return Toleration{Operator: "Exists"}, nil
	}
	rest, operator, _ := strings.Cut(text, ",")
	pair, effect, _ := strings.Cut(rest, ":")
	key, value, valued := strings.Cut(pair, "=")
	t := Toleration{key, operator, value, effect}
	if operator == "" {
		t.Operator = "Exists"
		if valued {
			t.Operator = "Equal"
		}
	}
	if t.Operator == "Exists" {
		t.Value = ""
	}
	switch {
	case labelName(key) != nil:
		return t, fmt.Errorf("%q: %q is not the key of a taint, such as example.com/key", text, key)
	case labelValue(t.Value) != nil:
		return t, fmt.Errorf("%q: %q is not the value of a taint", text, t.Value)
	case !slices.Contains([]string{"", "NoSchedule", "PreferNoSchedule", "NoExecute"}, effect):
		return t, fmt.Errorf("%q: the effect %q is not one of NoSchedule, PreferNoSchedule and NoExecute", text, effect)
	case t.Operator != "Exists" && t.Operator != "Equal":
		return t, fmt.Errorf("%q: the operator %q is neither Exists nor Equal", text, operator)
	}
	return t, nil
}

// Volume is a volume claim or a folder of the node, and where it is mounted.
type Volume struct {
	Claim, Host string // one of the two
	Path        string
}

// Volumes are CLAIM:/PATH or /FOLDER:/PATH.
var Volumes = checked(func(text string) error { _, err := ReadVolume(text); return err }).many()

// ReadVolume reads a text of the form Volumes.
func ReadVolume(text string) (Volume, error) {
	name, dir, ok := strings.Cut(text, ":")
	switch {
	case !ok || !path.IsAbs(dir):
		return Volume{}, fmt.Errorf("%q: write CLAIM:/PATH or /FOLDER:/PATH, the name of a persistent volume claim or a folder of the node, and where to mount it; leave it empty for none", text)
	case path.IsAbs(name):
		return Volume{Host: path.Clean(name), Path: path.Clean(dir)}, nil
	case objectName(name) != nil:
		return Volume{}, fmt.Errorf("%q is not the name of a volume claim: use lower-case letters, digits, . and -", name)
	}
	return Volume{Claim: name, Path: path.Clean(dir)}, nil
}

var errRequired = errors.New("must be set")
