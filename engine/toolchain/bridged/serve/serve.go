// Package serve has what the providers of this module share.
package serve

import (
	"os"
	"time"
)

// EndWithEngine ends the program when the engine that started it is gone: killed outright, an engine cannot stop its
// plugins. Without an engine's address the program was started by hand, to be attached to: then nobody's end is its own.
func EndWithEngine() {
	if len(os.Args) < 2 {
		return
	}
	parent := os.Getppid()
	go func() {
		for os.Getppid() == parent {
			time.Sleep(500 * time.Millisecond)
		}
		os.Exit(1)
	}()
}
