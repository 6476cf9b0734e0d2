package sqlite

// Driver is the name of the SQL driver of this build.
const Driver = driver
