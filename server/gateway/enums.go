package gateway

import (
	"encoding/json"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/argosy-ml/argosy/server/apierr"
)

// knownEnums refuses JSON of a message with an unknown name for an enum.
func knownEnums(raw []byte, message protoreflect.MessageDescriptor) error {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil { // messages with another JSON form than an object have no enums
		return nil
	}
	for name, value := range object {
		field := message.Fields().ByJSONName(name)
		if field == nil {
			field = message.Fields().ByTextName(name)
		}
		if field == nil || field.IsMap() {
			continue
		}
		values := []json.RawMessage{value}
		if field.IsList() && json.Unmarshal(value, &values) != nil {
			continue
		}
		for _, v := range values {
			if err := knownEnum(v, field); err != nil {
				return err
			}
		}
	}
	return nil
}

func knownEnum(value json.RawMessage, field protoreflect.FieldDescriptor) error {
	switch {
	case field.Message() != nil:
		return knownEnums(value, field.Message())
	case field.Enum() == nil:
		return nil
	}
	var name protoreflect.Name
	if json.Unmarshal(value, &name) != nil || field.Enum().Values().ByName(name) != nil {
		return nil // a number, or null; or known
	}
	var names []string
	for i := range field.Enum().Values().Len() {
		names = append(names, string(field.Enum().Values().Get(i).Name()))
	}
	return apierr.New(apierr.Invalid, "%s is %q; it can be %s", field.Name(), name, strings.Join(names, ", "))
}
