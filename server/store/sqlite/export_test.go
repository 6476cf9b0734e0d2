package sqlite

// Driver is the name of the SQL driver of this build.
const Driver = driver

// DSN names a file as the store does.
func DSN(file string, write bool) string { return dsn(file, write) }
