/* The words for outcomes and roles: what the database's columns and CHECKs say, letter by letter. */
#include <mgb/record.h>

const char *mgb_outcome_name(enum mgb_outcome outcome)
{
    switch (outcome) {
    case MGB_OUTCOME_RUNNING:
        return "running";
    case MGB_OUTCOME_OK:
        return "ok";
    case MGB_OUTCOME_OOM:
        return "oom";
    case MGB_OUTCOME_ERROR:
        return "error";
    case MGB_OUTCOME_INTERRUPTED:
        return "interrupted";
    case MGB_OUTCOME_CRASHED:
        return "crashed";
    case MGB_OUTCOME_TIMEOUT:
        return "timeout";
    }
    return "?";
}

const char *mgb_variable_role_name(enum mgb_variable_role role)
{
    switch (role) {
    case MGB_VARIABLE_MASTER:
        return "master";
    case MGB_VARIABLE_REPLICA:
        return "replica";
    case MGB_VARIABLE_DUPLICATE:
        return "duplicate";
    case MGB_VARIABLE_LEFTOVER:
        return "leftover";
    case MGB_VARIABLE_SLOT:
        return "slot";
    }
    return "?";
}
