package main

// keepPrivate does nothing: files inherit the permissions of their directory.
func keepPrivate() {}
