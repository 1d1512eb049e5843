/* Layouts of activations on a CPU device. The number that travels through a plan says how an image lies in memory; with
 * the tensor's shape it is complete, so there is no table of layouts to keep.
 *
 * All are [outer][pixel][inner]: plain has inner = channels; blocked ones put 8 or 16 channels together, the last block
 * filled up with zeros; planar has one. Kernels that treat channels alike work on this form and need no other. */
#ifndef MGB_HOST_LAYOUT_H
#define MGB_HOST_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

enum mgb_host_layout {
    MGB_LAYOUT_PLAIN,
    MGB_LAYOUT_BLOCK8,
    MGB_LAYOUT_BLOCK16,
    MGB_LAYOUT_PLANAR,
    MGB_LAYOUT_COUNT
};

struct mgb_image {
    int64_t rows, pixels, channels;
};

struct mgb_form {
    int64_t outer, pixels, inner;
};
struct mgb_form mgb_layout_form(struct mgb_image image, int layout);

/* Elements in memory, filling included. */
int64_t mgb_layout_count(struct mgb_image image, int layout);
bool mgb_layout_padded(struct mgb_image image, int layout);
/* Copies f32 from one layout into another (equal ones too), through the calling thread's team. */
void mgb_layout_convert(float *to, int to_layout, const float *from, int from_layout,
                        struct mgb_image image);

#endif
