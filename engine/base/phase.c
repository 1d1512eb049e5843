/* The words for phases and memory categories: what the database's columns and CHECKs say, letter by letter. */
#include <mgb/phase.h>

const char *mgb_phase_name(enum mgb_phase phase)
{
    switch (phase) {
    case MGB_PHASE_INPUT:
        return "input";
    case MGB_PHASE_FETCH:
        return "fetch";
    case MGB_PHASE_FORWARD:
        return "forward";
    case MGB_PHASE_BACKWARD:
        return "backward";
    case MGB_PHASE_JOIN:
        return "join";
    case MGB_PHASE_SUM:
        return "sum";
    case MGB_PHASE_UPDATE:
        return "update";
    case MGB_PHASE_WAIT:
        return "wait";
    case MGB_PHASE_COUNT:
        break;
    }
    return "?";
}

const char *mgb_memory_category_name(enum mgb_memory_category category)
{
    switch (category) {
    case MGB_MEMORY_WEIGHTS:
        return "weights";
    case MGB_MEMORY_REPLICAS:
        return "replicas";
    case MGB_MEMORY_GRADIENTS:
        return "gradients";
    case MGB_MEMORY_SLOTS:
        return "slots";
    case MGB_MEMORY_ACTIVATIONS:
        return "activations";
    case MGB_MEMORY_WORKSPACE:
        return "workspace";
    case MGB_MEMORY_MERGE:
        return "merge";
    case MGB_MEMORY_LEFTOVER:
        return "leftover";
    case MGB_MEMORY_INPUT:
        return "input";
    case MGB_MEMORY_CATEGORY_COUNT:
        break;
    }
    return "?";
}
