package quick

import (
	"fmt"
	"reflect"
	"unsafe"
)

// field finds an unexported field of one of Argo's types and returns a function that points to it in a value.
// It fails where this version of Argo has no field of that name and type.
func field[Owner, T any](name string) (func(*Owner) *T, error) {
	owner, want := reflect.TypeFor[Owner](), reflect.TypeFor[T]()
	f, ok := owner.FieldByName(name)
	if !ok || f.Type != want {
		return nil, fmt.Errorf("this version of Argo has no field %s of type %s in %s", name, want, owner)
	}
	return func(o *Owner) *T { return (*T)(unsafe.Add(unsafe.Pointer(o), f.Offset)) }, nil
}
