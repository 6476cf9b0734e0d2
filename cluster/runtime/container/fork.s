// An empty file of assembly: without one, a package may not declare functions that have no body.
