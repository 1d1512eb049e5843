/* The models of sequences against PyTorch's layers and torchvision's transformer: outputs in evaluation, losses and gradients
 * of three steps. */
#include "tests/support/check.h"

#include "tests/app/script/golden_model.h"
#include <stdlib.h>
#include <string.h>

static void both(const char *name, const char *model)
{
    golden_model_evaluate(name, model);
    golden_model_train(name, model);
}

static void lstm_lm_is_made_of_torchs_lstm(void **state)
{
    (void)state;
    both("lstm_lm_small", "'lstm_lm', { small = true }");
}

static void a_projected_state_is_torchs(void **state)
{
    (void)state;
    both("lstm_lm_projection", "'lstm_lm', { small = true, projection = 5 }");
}

static void gpt2_has_its_norms_first_and_its_table_tied(void **state)
{
    (void)state;
    both("gpt2_small", "'gpt2', { small = true, dropout = 0.0 }");
}

static void vit_is_torchvisions(void **state)
{
    (void)state;
    both("vit_b16_small", "'vit_b16', { small = true }");
}

static void esim_of_padded_sentences_is_that_of_each_pair_without_padding(void **state)
{
    (void)state;
    both("snli_bilstm_small", "'snli_bilstm', { small = true, dropout = 0.0 }");
}

static void a_frozen_language_model_reads_around_padding(void **state)
{
    (void)state;
    both("snli_bilstm_lm", "'snli_bilstm', { small = true, dropout = 0.0, lm_layers = 2 }");
}

static void the_peer_net_is_the_one_of_the_bench(void **state)
{
    (void)state;
    both("snli_bilstm_peer", "'snli_bilstm', { small = true, peer = true, peer_dropout = 0.0 }");
}

static void an_lstm_begins_in_the_state_it_is_given(void **state)
{
    (void)state;
    both("rnn_state_small", "'rnn_state', { small = true }");
}

static void esim_of_full_size_gives_torchs_outputs(void **state)
{
    (void)state;
    golden_model_evaluate("snli_bilstm", "'snli_bilstm'");
}

/* 1.6 GB: in the long form only. */
static void gpt2_of_full_size_gives_torchs_outputs(void **state)
{
    (void)state;
    const char *is_long = getenv("MGB_LONG");
    if (!is_long || strcmp(is_long, "1") != 0)
        skip();
    golden_model_evaluate("gpt2", "'gpt2', { seq = 32 }");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lstm_lm_is_made_of_torchs_lstm),
        cmocka_unit_test(a_projected_state_is_torchs),
        cmocka_unit_test(gpt2_has_its_norms_first_and_its_table_tied),
        cmocka_unit_test(vit_is_torchvisions),
        cmocka_unit_test(esim_of_padded_sentences_is_that_of_each_pair_without_padding),
        cmocka_unit_test(a_frozen_language_model_reads_around_padding),
        cmocka_unit_test(the_peer_net_is_the_one_of_the_bench),
        cmocka_unit_test(an_lstm_begins_in_the_state_it_is_given),
        cmocka_unit_test(esim_of_full_size_gives_torchs_outputs),
        cmocka_unit_test(gpt2_of_full_size_gives_torchs_outputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
