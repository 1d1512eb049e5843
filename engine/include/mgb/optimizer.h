/* Optimizers. Formulas (g: gradient of the mean loss over the global batch, after clipping; t: step from 1; all f32):
 *   sgd       v = momentum v - lr g; w += nesterov ? momentum v - lr g : v; without momentum w -= lr g   (Keras)
 *   rmsprop   a = rho a + (1 - rho) g^2; w -= lr g / (sqrt(a) + epsilon)                                  (Keras 2)
 *   adagrad   a += g^2; w -= lr g / (sqrt(a) + epsilon)
 *   adadelta  a = rho a + (1 - rho) g^2; u = g sqrt(d + epsilon) / sqrt(a + epsilon); w -= lr u;
 *             d = rho d + (1 - rho) u^2                                                                   (Zeiler 2012)
 *   adam      m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2;
 *             w -= lr sqrt(1 - b2^t) / (1 - b1^t) m / (sqrt(v) + epsilon)                                 (Kingma 2014, end of 2) */
#ifndef MGB_OPTIMIZER_H
#define MGB_OPTIMIZER_H

#include <stdbool.h>

enum mgb_optimizer_kind { MGB_SGD, MGB_RMSPROP, MGB_ADAGRAD, MGB_ADADELTA, MGB_ADAM };

struct mgb_optimizer {
    enum mgb_optimizer_kind kind;
    float lr;
    float momentum; /* sgd */
    bool nesterov;
    float rho;          /* rmsprop, adadelta */
    float beta1, beta2; /* adam */
    float epsilon;
    float decay;     /* lr / (1 + decay * steps done), as Keras 2 */
    float clip_norm; /* 0: none; else the global norm of all gradients is at most this */
};

struct mgb_optimizer mgb_optimizer_default(enum mgb_optimizer_kind kind); /* Keras 2 defaults */
const char *mgb_optimizer_name(enum mgb_optimizer_kind kind);
/* Slot variables of a weight: sgd 0 or 1 (with momentum), rmsprop 1, adagrad 1, adadelta 2, adam 2. */
int mgb_optimizer_slots(const struct mgb_optimizer *optimizer);
const char *mgb_optimizer_slot_name(const struct mgb_optimizer *optimizer,
                                    int slot); /* "momentum" */

#endif
