/* Entries of a zip archive (PKWARE's APPNOTE 6.3.10), as numpy.savez writes them: stored or deflated, below 4 GiB. The
 * central directory is what counts; nothing in it is trusted. Knows nothing of arrays. */
#ifndef MGB_DATA_ZIP_H
#define MGB_DATA_ZIP_H

#include "engine/data/bytes.h"

struct mgb_zip;
/* MGB_MISSING or MGB_IO when it cannot be read; MGB_CORRUPT and MGB_UNSUPPORTED name file, entry and what was found.
 * `path` stays the caller's while the archive is open. */
enum mgb_status mgb_zip_open(struct mgb_zip **out, const char *path);
void mgb_zip_close(struct mgb_zip *zip);
int mgb_zip_count(const struct mgb_zip *zip);
const char *mgb_zip_name(const struct mgb_zip *zip, int entry); /* printable UTF-8 */
int mgb_zip_find(const struct mgb_zip *zip, const char *name);  /* -1: none */
/* The bytes of one entry (mgb_bytes_end), which borrow the archive. */
enum mgb_status mgb_zip_begin(struct mgb_bytes *out, const struct mgb_zip *zip, int entry);

#endif
