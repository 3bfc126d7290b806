package main

import (
	"bufio"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
)

// Library is a library that gompirma loads at run time if a job needs it.
type Library struct {
	Name string `json:"name"`
	For  string `json:"for"`
	Path string `json:"path"` // "" if not found
}

// libraries searches for the optional libraries where the dynamic linker would search: in LD_LIBRARY_PATH, the linker's
// cache and the default directories.
func libraries(root string) []Library {
	wanted := []Library{
		{Name: "libfabric.so.1", For: "for jobs on several nodes with special network hardware"},
		{Name: "libucp.so.0", For: "UCX, an alternative to libfabric"},
		{Name: "libpmix.so.2", For: "for launchers with PMIx: PRRTE, Open MPI's mpirun, Slurm"},
	}
	cache, _ := os.ReadFile(filepath.Join(root, "etc/ld.so.cache"))
	cached := cacheEntries(cache)
	for i := range wanted {
		wanted[i].Path = find(root, wanted[i].Name, cached)
	}
	return wanted
}

func find(root, name string, cached map[string]string) string {
	for _, dir := range filepath.SplitList(os.Getenv("LD_LIBRARY_PATH")) {
		if path := filepath.Join(dir, name); dir != "" && exists(path) {
			return path
		}
	}
	if path := cached[name]; path != "" && exists(filepath.Join(root, path)) {
		return path
	}
	for _, dir := range append(confDirs(root, filepath.Join(root, "etc/ld.so.conf"), 0), "/lib64", "/usr/lib64",
		"/lib", "/usr/lib") {
		if path := filepath.Join(dir, name); exists(filepath.Join(root, path)) {
			return path
		}
	}
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// cacheEntries parses glibc's ld.so.cache and returns the path of each library. It reads the format of glibc 2.2 and
// later, which may follow a table in the older format. If several entries have the same name, it uses the first one for
// this machine's word size. It skips damaged parts of a cache.
func cacheEntries(cache []byte) map[string]string {
	const magic, headerSize, entrySize = "glibc-ld.so.cache1.1", 48, 24
	entries := map[string]string{}
	at := strings.Index(string(cache), magic)
	if at < 0 || len(cache)-at < headerSize {
		return entries
	}
	cache = cache[at:] // the offsets in the entries count from the start of this header
	count := int(binary.NativeEndian.Uint32(cache[20:]))
	text := func(offset uint32) string {
		if int64(offset) >= int64(len(cache)) {
			return ""
		}
		s, _, ok := strings.Cut(string(cache[offset:min(int(offset)+4096, len(cache))]), "\x00")
		if !ok {
			return ""
		}
		return s
	}
	for i := 0; i < count && headerSize+(i+1)*entrySize <= len(cache); i++ {
		entry := cache[headerSize+i*entrySize:]
		const abiMask, x8664, aarch64 = 0xff00, 0x0300, 0x0a00
		if kind := binary.NativeEndian.Uint32(entry) & abiMask; kind != x8664 && kind != aarch64 {
			continue
		}
		name := text(binary.NativeEndian.Uint32(entry[4:]))
		if name != "" && entries[name] == "" {
			entries[name] = text(binary.NativeEndian.Uint32(entry[8:]))
		}
	}
	return entries
}

// confDirs returns the directories in an ld.so.conf and in the files that it includes.
func confDirs(root, file string, depth int) []string {
	f, err := os.Open(file)
	if err != nil || depth > 4 {
		return nil
	}
	defer f.Close()
	var dirs []string
	for scanner := bufio.NewScanner(f); scanner.Scan(); {
		line, _, _ := strings.Cut(scanner.Text(), "#")
		fields := strings.Fields(line)
		switch {
		case len(fields) == 2 && fields[0] == "include":
			pattern := fields[1]
			if !filepath.IsAbs(pattern) {
				pattern = filepath.Join("/etc", pattern)
			}
			matches, _ := filepath.Glob(filepath.Join(root, pattern))
			for _, m := range matches {
				dirs = append(dirs, confDirs(root, m, depth+1)...)
			}
		case len(fields) == 1:
			dirs = append(dirs, fields[0])
		}
	}
	return dirs
}
