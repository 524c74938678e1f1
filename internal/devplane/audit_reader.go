// SPDX-License-Identifier: Apache-2.0

package devplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/fsnotify/fsnotify"
)

// An AuditReader reads an audit log from its beginning, in the order in which it
// was written, and follows it when it is rotated. It is for one goroutine.
type AuditReader struct {
	path    string
	file    *os.File // nil before the first read
	partial []byte   // of a line whose end is not there yet
}

// OpenAuditLog returns a reader of the log whose newest file is at path. The
// file need not exist yet.
func OpenAuditLog(path string) *AuditReader { return &AuditReader{path: path} }

// Close closes the file that is being read.
func (r *AuditReader) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// Read returns the events that were written since the last call, none if there
// are none.
func (r *AuditReader) Read() ([]AuditEvent, error) {
	var events []AuditEvent
	for {
		// Whether there is a next file is asked before this one is read to its
		// end: once there is one, nothing is added to this one any more.
		next, err := r.next()
		if err != nil {
			return events, err
		}
		if r.file != nil {
			if events, err = r.readFile(events); err != nil {
				return events, err
			}
		}
		if next == nil {
			return events, nil
		}
		if err := r.Close(); err != nil {
			return events, err
		}
		r.file, r.partial = next, nil
	}
}

// SkipToEnd passes over all that was written so far.
func (r *AuditReader) SkipToEnd() error {
	_, err := r.Read()
	return err
}

// Await reads until an event for which found is true, or until ctx ends. It
// returns every event read, those after the one found included when they were
// there already.
func (r *AuditReader) Await(ctx context.Context, found func(AuditEvent) bool) ([]AuditEvent, error) {
	// It watches before it reads, so that no line comes between the two.
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watching the audit log: %w", err)
	}
	defer watcher.Close()
	if err := watcher.Add(filepath.Dir(r.path)); err != nil {
		return nil, fmt.Errorf("watching the audit log: %w", err)
	}
	var all []AuditEvent
	for {
		events, err := r.Read()
		all = append(all, events...)
		if err != nil {
			return all, err
		}
		if slices.ContainsFunc(events, found) {
			return all, nil
		}
		select {
		case <-ctx.Done():
			return all, fmt.Errorf("waiting for an event in the audit log: %w", context.Cause(ctx))
		case err := <-watcher.Errors:
			return all, fmt.Errorf("watching the audit log: %w", err)
		case <-watcher.Events:
		}
	}
}

// readFile appends the events of all whole lines up to the end of the file.
func (r *AuditReader) readFile(events []AuditEvent) ([]AuditEvent, error) {
	content, err := io.ReadAll(r.file)
	if err != nil {
		return events, fmt.Errorf("reading the audit log: %w", err)
	}
	r.partial = append(r.partial, content...)
	for {
		line, rest, whole := bytes.Cut(r.partial, []byte("\n"))
		if !whole {
			return events, nil
		}
		r.partial = rest
		event, err := parseAuditEvent(line)
		if err != nil {
			return events, err
		}
		events = append(events, event)
	}
}

// next opens the file after the one that is being read, the oldest if none is.
// It returns nil if there is none.
func (r *AuditReader) next() (*os.File, error) {
	for {
		name, info, err := r.nextName()
		if err != nil || name == "" {
			return nil, err
		}
		file, err := os.Open(name)
		if errors.Is(err, os.ErrNotExist) {
			continue // rotated meanwhile
		}
		if err != nil {
			return nil, fmt.Errorf("opening the audit log: %w", err)
		}
		opened, err := file.Stat()
		if err == nil && os.SameFile(opened, info) {
			return file, nil
		}
		if err := errors.Join(err, file.Close()); err != nil {
			return nil, fmt.Errorf("opening the audit log: %w", err)
		}
	}
}

func (r *AuditReader) nextName() (string, os.FileInfo, error) {
	names, infos, err := auditFiles(r.path)
	if err != nil || len(names) == 0 {
		return "", nil, err
	}
	if r.file == nil {
		return names[0], infos[0], nil
	}
	current, err := r.file.Stat()
	if err != nil {
		return "", nil, fmt.Errorf("reading the audit log: %w", err)
	}
	for i, info := range infos {
		if !os.SameFile(current, info) {
			continue
		}
		if i+1 == len(names) {
			return "", nil, nil
		}
		return names[i+1], infos[i+1], nil
	}
	return "", nil, errors.New("reading the audit log: events were lost: more files were written than are kept; read more often")
}

// auditFiles returns the files of a log, oldest first. Those set aside carry
// the time in their names, such that they sort by it: audit-TIME.log.
func auditFiles(path string) (names []string, infos []os.FileInfo, err error) {
	extension := filepath.Ext(path)
	pattern := path[:len(path)-len(extension)] + "-*" + extension
	candidates, err := filepath.Glob(pattern) // sorted
	if err != nil {
		return nil, nil, fmt.Errorf("listing the files of the audit log: %w", err)
	}
	for _, name := range append(candidates, path) {
		info, err := os.Stat(name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, nil, fmt.Errorf("listing the files of the audit log: %w", err)
		}
		names, infos = append(names, name), append(infos, info)
	}
	return names, infos, nil
}
