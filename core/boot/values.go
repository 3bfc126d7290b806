package boot

import (
	"encoding/base64"
	"strconv"
	"strings"
)

// A value may have any bytes and any length, but the launcher's key-value space stores only short texts. So values are
// encoded. The first character of the stored text selects the encoding:
//
//	s...   the value itself
//	b...   the value in base64
//	m<n>   n segments of the base64 form, stored under key/0, key/1, ...
const (
	encPlain    = 's'
	encBase64   = 'b'
	encSegments = 'm'
)

const base64Alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// safeChars holds the bytes that every launcher forwards unchanged.
const safeChars = base64Alphabet + ".:/,+()"

// store encodes a value and stores it by calls of the function `put`. It makes as many calls as needed, each with a
// text of at most `limit` bytes.
func store(put func(key, value string) error, limit int, key, value string) error {
	if strings.Trim(value, safeChars) == "" && len(value) < limit {
		return put(key, string(encPlain)+value)
	}
	text := base64.RawURLEncoding.EncodeToString([]byte(value))
	if len(text) < limit {
		return put(key, string(encBase64)+text)
	}
	n := (len(text) + limit - 1) / limit
	for i := 0; i < n; i++ {
		if err := put(segmentKey(key, i), text[i*limit:min((i+1)*limit, len(text))]); err != nil {
			return err
		}
	}
	return put(key, string(encSegments)+strconv.Itoa(n))
}

// fetch returns the value that store stored under key.
func fetch(get func(key string) (string, error), key string) (string, error) {
	stored, err := get(key)
	if err != nil {
		return "", err
	}
	if stored == "" {
		return "", failure("the launcher returned no value of key %q", key)
	}
	text := stored[1:]
	switch stored[0] {
	case encPlain:
		return text, nil
	case encBase64:
	case encSegments:
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return "", failure("the launcher returned %q for key %q, which is not a number of segments",
				stored, key)
		}
		var all strings.Builder
		for i := 0; i < n; i++ {
			piece, err := get(segmentKey(key, i))
			if err != nil {
				return "", err
			}
			all.WriteString(piece)
		}
		text = all.String()
	default:
		return "", failure("the launcher returned a value of key %q that this library did not store", key)
	}
	value, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return "", failure("the launcher returned an invalid value of key %q: %v", key, err)
	}
	return string(value), nil
}

func segmentKey(key string, i int) string { return key + "/" + strconv.Itoa(i) }

// keyAlphabet holds the permitted characters of a key. It excludes '/', which the keys of segments use.
const keyAlphabet = base64Alphabet + "."

func checkKey(key string) error {
	if key == "" || len(key) > MaxKey || strings.Trim(key, keyAlphabet) != "" {
		return failure("key %q must consist of 1 to %d letters, digits, '-', '_' and '.'", key, MaxKey)
	}
	return nil
}
