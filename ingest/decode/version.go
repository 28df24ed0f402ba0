package decode

// Version is that of the decoder. A log is decoded again by programs of its own
// version only, so it grows by one with every change after which the same records
// are read as other rows, or one of them is refused or not.
const Version = 1
