package sqlite

// Driver is the name of the SQL driver of this build.
const Driver = driver

// QuicklyRead is the size of a file, in bytes, above which it is read as a whole only after a crash.
const QuicklyRead = quicklyRead

// DSN names a file as the store does.
func DSN(file string, write bool) string { return dsn(file, write) }
