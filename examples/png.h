/* Writes a picture as a PNG file, without any library. It writes the pixels uncompressed, in deflate's "stored" blocks,
 * which every viewer can read.
 *
 *   unsigned char rgb[height * width * 3];            rows from top to bottom, red, green, blue
 *   if (png_write("picture.png", width, height, rgb) != 0) perror("picture.png");
 */
#ifndef PNG_H
#define PNG_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file that is being written, with the two checksums of a PNG file: the CRC of the current chunk, and Adler-32 of all
 * pixels. */
struct png {
	FILE *file;
	uint32_t table[256];
	uint32_t crc;
	uint32_t adler_a, adler_b;
};

static void png_bytes(struct png *png, const void *bytes, size_t n) {
	const unsigned char *byte = bytes;
	for (size_t i = 0; i < n; i++)
		png->crc = png->table[(png->crc ^ byte[i]) & 255] ^ (png->crc >> 8);
	fwrite(bytes, 1, n, png->file);
}

static void png_number(struct png *png, uint32_t value) /* big-endian */
{
	unsigned char bytes[4] = {value >> 24, value >> 16 & 255, value >> 8 & 255, value & 255};
	png_bytes(png, bytes, 4);
}

static void png_chunk_begin(struct png *png, const char *kind, uint32_t size) {
	png_number(png, size);
	png->crc = 0xffffffffu; /* the CRC covers the kind and the data of the chunk, not its size */
	png_bytes(png, kind, 4);
}

static void png_chunk_end(struct png *png) { png_number(png, png->crc ^ 0xffffffffu); }

static void png_pixels(struct png *png, const unsigned char *bytes, size_t n) {
	for (size_t i = 0; i < n; i++) {
		png->adler_a = (png->adler_a + bytes[i]) % 65521;
		png->adler_b = (png->adler_b + png->adler_a) % 65521;
	}
	png_bytes(png, bytes, n);
}

/* Returns 0, or -1 with errno set if the file cannot be written. */
static int png_write(const char *path, int width, int height, const unsigned char *rgb) {
	struct png *png = calloc(1, sizeof *png);
	if (!png)
		return -1;
	png->file = fopen(path, "wb");
	if (!png->file) {
		free(png);
		return -1;
	}
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;
		for (int k = 0; k < 8; k++)
			c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
		png->table[i] = c;
	}
	fwrite("\x89PNG\r\n\x1a\n", 1, 8, png->file);

	png_chunk_begin(png, "IHDR", 13);
	png_number(png, (uint32_t)width);
	png_number(png, (uint32_t)height);
	png_bytes(png, "\x08\x02\x00\x00\x00", 5); /* 8 bits per colour, RGB, not interlaced */
	png_chunk_end(png);

	/* Each row of pixels follows a byte for "no filter". The rows are written in stored blocks of at most 65535
	 * bytes, each with a header of 5 bytes. The chunk also has 2 bytes of zlib's header and 4 bytes for the
	 * checksum. */
	size_t row = 1 + 3 * (size_t)width;
	size_t blocks = (row + 65534) / 65535;
	png_chunk_begin(png, "IDAT", (uint32_t)(2 + (5 * blocks + row) * (size_t)height + 4));
	png_bytes(png, "\x78\x01", 2); /* zlib's header */
	png->adler_a = 1;
	unsigned char *line = malloc(row);
	for (int y = 0; y < height && line; y++) {
		line[0] = 0;
		memcpy(line + 1, rgb + 3 * (size_t)width * (size_t)y, row - 1);
		for (size_t at = 0; at < row; at += 65535) {
			size_t n = row - at < 65535 ? row - at : 65535;
			int last = y == height - 1 && at + n == row;
			unsigned char head[5] = {last, n & 255, n >> 8, ~n & 255, ~n >> 8 & 255};
			png_bytes(png, head, 5);
			png_pixels(png, line + at, n);
		}
	}
	png_number(png, png->adler_b << 16 | png->adler_a);
	png_chunk_end(png);
	png_chunk_begin(png, "IEND", 0);
	png_chunk_end(png);
	int bad = !line || ferror(png->file);
	if (fclose(png->file) != 0)
		bad = 1;
	free(line);
	free(png);
	return bad ? -1 : 0;
}

/* Returns 0 if the file can be written, else -1 with errno set. Programs call it before they compute a picture. */
static inline int png_writable(const char *path) {
	FILE *file = fopen(path, "ab");
	return file ? fclose(file) : -1;
}

/* png_colour sets `rgb` to the colour at a position of a scale: 0 is the first colour, 1 the last. Between the colours,
 * which are at equal distances, it interpolates linearly. */
static inline void png_colour(const unsigned char (*scale)[3], int colours, double position, unsigned char rgb[3]) {
	double at = position < 0 ? 0 : position > 1 ? colours - 1 : position * (colours - 1);
	int i = at >= colours - 1 ? colours - 2 : (int)at;
	for (int k = 0; k < 3; k++)
		rgb[k] = (unsigned char)(scale[i][k] + (at - i) * (scale[i + 1][k] - scale[i][k]) + 0.5);
}

#endif
