/* Words and their numbers: counted in order of appearance first, then ranked by frequency. */
#ifndef MGB_DATA_VOCABULARY_H
#define MGB_DATA_VOCABULARY_H

#include <mgb/status.h>
#include <stddef.h>
#include <stdint.h>

struct mgb_vocabulary {
    struct mgb_word {
        int64_t text; /* where it begins in `chars` */
        int64_t seen;
        uint32_t hash;
    } * words;
    int32_t count, capacity;
    char *chars; /* every word, each ended by 0 */
    int64_t used, room;
    int32_t *slots; /* open addressing: word + 1 */
    int32_t slot_count;
    int32_t *rank;   /* after ranking: word -> number, -1 unknown */
    int32_t *ranked; /* number - first -> word */
    int32_t kept;    /* words that have a number of their own */
};

/* The word's place in order of appearance, added where it is new. MGB_NO_MEMORY; MGB_INVALID beyond 2^30 words. */
enum mgb_status mgb_vocabulary_add(int32_t *word, struct mgb_vocabulary *v, const char *text,
                                   size_t length);
int32_t mgb_vocabulary_find(const struct mgb_vocabulary *v, const char *text, size_t length);
/* Numbers from `first` up by frequency, of equals the first seen; at most `most` words have one (0: all). */
enum mgb_status mgb_vocabulary_rank(struct mgb_vocabulary *v, int32_t first, int64_t most);
const char *mgb_vocabulary_text(const struct mgb_vocabulary *v, int32_t word);
enum mgb_status mgb_vocabulary_copy(struct mgb_vocabulary *out, const struct mgb_vocabulary *from);
void mgb_vocabulary_done(struct mgb_vocabulary *v);

#endif
