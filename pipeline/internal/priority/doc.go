// Package priority lowers the priority of work in the background.
package priority
