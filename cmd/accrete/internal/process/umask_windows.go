package process

// KeepPrivate does nothing: files inherit the permissions of their directory.
func KeepPrivate() {}
