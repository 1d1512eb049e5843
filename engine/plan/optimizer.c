/* Defaults and slots of the optimizers: those of Keras 2, whose figures people compare with. */
#include <mgb/optimizer.h>

#include <stddef.h>

struct mgb_optimizer mgb_optimizer_default(enum mgb_optimizer_kind kind)
{
    switch (kind) {
    case MGB_SGD:
        return (struct mgb_optimizer){.kind = MGB_SGD, .lr = 0.01f};
    case MGB_RMSPROP:
        return (struct mgb_optimizer){
            .kind = MGB_RMSPROP, .lr = 0.001f, .rho = 0.9f, .epsilon = 1e-7f};
    case MGB_ADAGRAD:
        return (struct mgb_optimizer){.kind = MGB_ADAGRAD, .lr = 0.01f, .epsilon = 1e-7f};
    case MGB_ADADELTA:
        return (struct mgb_optimizer){
            .kind = MGB_ADADELTA, .lr = 1.0f, .rho = 0.95f, .epsilon = 1e-7f};
    case MGB_ADAM:
        return (struct mgb_optimizer){
            .kind = MGB_ADAM, .lr = 0.001f, .beta1 = 0.9f, .beta2 = 0.999f, .epsilon = 1e-7f};
    }
    return (struct mgb_optimizer){0};
}

const char *mgb_optimizer_name(enum mgb_optimizer_kind kind)
{
    switch (kind) {
    case MGB_SGD:
        return "sgd";
    case MGB_RMSPROP:
        return "rmsprop";
    case MGB_ADAGRAD:
        return "adagrad";
    case MGB_ADADELTA:
        return "adadelta";
    case MGB_ADAM:
        return "adam";
    }
    return "?";
}

int mgb_optimizer_slots(const struct mgb_optimizer *optimizer)
{
    switch (optimizer->kind) {
    case MGB_SGD:
        return optimizer->momentum != 0 ? 1 : 0;
    case MGB_RMSPROP:
    case MGB_ADAGRAD:
        return 1;
    case MGB_ADADELTA:
    case MGB_ADAM:
        return 2;
    }
    return 0;
}

const char *mgb_optimizer_slot_name(const struct mgb_optimizer *optimizer, int slot)
{
    switch (optimizer->kind) {
    case MGB_SGD:
        return slot == 0 ? "momentum" : NULL;
    case MGB_RMSPROP:
    case MGB_ADAGRAD:
        return slot == 0 ? "accumulator" : NULL;
    case MGB_ADADELTA:
        return slot == 0 ? "accumulator" : slot == 1 ? "delta" : NULL;
    case MGB_ADAM:
        return slot == 0 ? "m" : slot == 1 ? "v" : NULL;
    }
    return NULL;
}
