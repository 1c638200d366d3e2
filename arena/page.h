/* The files of page/, which are part of the program: tools/embed.sh writes the table when it is
 * built. */
#ifndef ARENA_PAGE_H
#define ARENA_PAGE_H

struct page_file {
    const char *name; /* from page/: "views/live.js"; NULL: the end of the table */
    const char *tag;  /* of its content, hexadecimal */
    const unsigned char *plain, *plain_end, *zipped, *zipped_end; /* zipped: gzip */
};
extern const struct page_file page_files[] __attribute__((visibility("hidden")));

#endif
