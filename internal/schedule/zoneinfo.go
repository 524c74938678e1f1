// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

//go:generate go run ./zoneinfo

// The zone database travels with the program and no other is asked: a preview
// on a laptop and a provider in a container answer alike, whatever their
// machines have installed.
var (
	//go:embed zoneinfo/zoneinfo.zip
	zoneinfoZIP []byte
	//go:embed zoneinfo/VERSION
	zoneinfoVersion string
)

// ZoneDataVersion returns the version of the IANA time zone database in use,
// such as 2025c.
func ZoneDataVersion() string { return strings.TrimSpace(zoneinfoVersion) }

type zoneDirectory struct {
	names []string
	files map[string]*zip.File
	lower map[string]string // name in lower case to name
}

var zoneFiles = sync.OnceValue(func() *zoneDirectory {
	archive, err := zip.NewReader(bytes.NewReader(zoneinfoZIP), int64(len(zoneinfoZIP)))
	if err != nil {
		panic("the embedded time zone data cannot be read: " + err.Error())
	}
	directory := &zoneDirectory{files: map[string]*zip.File{}, lower: map[string]string{}}
	for _, file := range archive.File {
		if strings.HasSuffix(file.Name, "/") || file.Name == "Factory" {
			continue
		}
		directory.names = append(directory.names, file.Name)
		directory.files[file.Name] = file
		directory.lower[strings.ToLower(file.Name)] = file.Name
	}
	slices.Sort(directory.names)
	return directory
})

// zones holds every zone that was asked for: there are some 600 of them, and no
// two callers have to build the same.
var zones = struct {
	sync.RWMutex
	byName map[string]*Zone
}{byName: map[string]*Zone{}}

// LoadZone returns the time zone of an IANA name. The same *Zone is returned for
// the same name each time. It returns a *FieldError without a path for the empty
// name, for "Local", and for a name that is not known; one that differs from a
// known name in upper and lower case only is told the right spelling.
func LoadZone(name string) (*Zone, error) {
	zones.RLock()
	zone, known := zones.byName[name]
	zones.RUnlock()
	if known {
		return zone, nil
	}
	location, err := loadLocation(name)
	if err != nil {
		return nil, err
	}
	zones.Lock()
	defer zones.Unlock()
	if zone, known = zones.byName[name]; !known {
		zone = newZone(name, location)
		zones.byName[name] = zone
	}
	return zone, nil
}

// UTC returns the zone of Coordinated Universal Time.
func UTC() *Zone {
	zone, err := LoadZone("UTC")
	if err != nil {
		panic(err) // UTC is in the embedded data; a test loads it.
	}
	return zone
}

func loadLocation(name string) (*time.Location, error) {
	directory := zoneFiles()
	file, ok := directory.files[name]
	if !ok {
		return nil, refuse(name, "an IANA time zone name such as Europe/Berlin or UTC"+directory.hint(name))
	}
	data, err := readAll(file)
	if err != nil {
		return nil, fmt.Errorf("read the embedded data of time zone %s: %w", name, err)
	}
	location, err := time.LoadLocationFromTZData(name, data)
	if err != nil {
		return nil, fmt.Errorf("read the embedded data of time zone %s: %w", name, err)
	}
	return location, nil
}

// hint names the zone that was probably meant, or returns "".
func (d *zoneDirectory) hint(name string) string {
	lower := strings.ToLower(strings.ReplaceAll(strings.TrimSpace(name), " ", "_"))
	if lower == "" || lower == "local" {
		return ""
	}
	if right, ok := d.lower[lower]; ok {
		return "; did you mean " + right + "?"
	}
	for _, known := range d.names {
		if strings.HasSuffix(strings.ToLower(known), "/"+lower) {
			return "; did you mean " + known + "?"
		}
	}
	return ""
}

func readAll(file *zip.File) ([]byte, error) {
	reader, err := file.Open()
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	return io.ReadAll(reader)
}
