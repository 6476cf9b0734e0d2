/** What the server takes at most, in bytes. */
export const maxPackageBytes = 32 * 1024 * 1024;

/** A name as the server takes it has at most this many characters. */
export const maxNameLength = 100;

/** The name to suggest for a package: its file's, without the ending that says how it is packed. */
export const nameOfFile = (file: string) => file.replace(/\.(tar\.gz|tgz|zip|ya?ml|json)$/i, '');
