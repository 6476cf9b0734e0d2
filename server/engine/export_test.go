package engine

// Expand is expand, for tests.
var Expand = expand
