/* The models of sequences and vit_b16: parameters and operations as published, and options that are refused. */
#include "tests/app/script/run_text.h"

/* counts(model, all parameters, those trained), nearly(GMAC of an example, published, share it may be off by) */
#define HELPERS                                                                                    \
    "local function facts(name, options)\n"                                                        \
    "  local s, trained = mgb.model(name, options):summary(), 0\n"                                 \
    "  for _, v in ipairs(s.variables) do\n"                                                       \
    "    if v.trainable then trained = trained + v.parameters end\n"                               \
    "  end\n"                                                                                      \
    "  return s.parameters, trained, s.forward_flops / 2e9\n"                                      \
    "end\n"                                                                                        \
    "local function counts(all, trained, name, options)\n"                                         \
    "  local a, t = facts(name, options)\n"                                                        \
    "  assert(a == all and t == trained, name .. ': ' .. a .. ' and ' .. t)\n"                     \
    "end\n"                                                                                        \
    "local function nearly(gmac, within, name, options)\n"                                         \
    "  local _, _, got = facts(name, options)\n"                                                   \
    "  assert(math.abs(got / gmac - 1) <= within, name .. ': ' .. got)\n"                          \
    "end\n"

static void parameters_are_as_published(void **state)
{
    (void)state;
    passes(HELPERS
           "counts(9264912, 9264912, 'lstm_lm')\n" /* 9,266,960 with PyTorch's second bias */
           "counts(822753151, 822753151, 'lstm_lm_big')\n"
           "counts(124439808, 124439808, 'gpt2')\n"
           "counts(124439808, 124439808, 'gpt2', { seq = 64 })\n"
           "counts(354823168, 354823168, 'gpt2', { layers = 24, width = 1024, heads = 16 })\n"
           "counts(86567656, 86567656, 'vit_b16')\n"
           "counts(304326632, 304326632, 'vit_b16', { layers = 24, width = 1024, heads = 16, mlp = "
           "4096 })\n"
           "counts(4326303 + 20000 * 300, 4326303, 'snli_bilstm')\n"
           "counts(10953699, 10953699, 'snli_bilstm', { peer = true })\n");
}

/* Two cells of 75,530,240 and a table; the first layer that is trained reads 1,024 numbers more. */
static void the_language_model_in_front_is_frozen(void **state)
{
    (void)state;
    passes(HELPERS "counts(4326303 + 2457600 + 20000 * 1324 + 2 * 75530240, 4326303 + 2457600,\n"
                   "  'snli_bilstm', { lm_layers = 2 })\n"
                   /* 0.151 G multiply-adds a word of 60, and 0.36 of what is behind it */
                   "nearly(60 * 0.151 + 0.219 + 0.147, 0.02, 'snli_bilstm', { lm_layers = 2 })\n");
}

static void operations_are_as_published(void **state)
{
    (void)state;
    passes(HELPERS
           "nearly(0.22, 0.02, 'snli_bilstm')\n"
           "nearly(17.56, 0.02, 'vit_b16')\n" /* torchvision */
           /* a word: the cell's parameters without bias, and 512 numbers for each of 793,471 */
           "nearly(20 * (0.0094 + 512 * 793471 / 1e9), 0.02, 'lstm_lm_big')\n"
           "nearly(32 * (4 * 512 * 768 + 512 * 10000) / 1e9, 0.02, 'lstm_lm')\n"
           /* a token: 12 width^2 a block, the table once, and each token against every other */
           "nearly(1024 * (12 * (12 * 768^2 + 2 * 1024 * 768) + 768 * 50257) / 1e9, 0.02, "
           "'gpt2')\n");
}

static void a_state_of_a_fixed_batch_is_refused(void **state)
{
    (void)state;
    fails("mgb.model('rnn_state', { batch = 512 }):summary()",
          "nn.lstm: stateful = true: a batch of 512 rows is cut over the GPUs and the last one may "
          "be short, so no layer can keep a state or a size of it: a batch of 512 is 256 and 256 "
          "rows on 2 GPUs; hand the state in as inputs: layer(x, nil, h, c)");
}

static void more_positions_than_there_are_is_an_error(void **state)
{
    (void)state;
    fails("mgb.model('gpt2', { seq = 1025 }):summary()",
          "gpt2: seq = 1025 is more than its context, 1024");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_as_published),
        cmocka_unit_test(the_language_model_in_front_is_frozen),
        cmocka_unit_test(operations_are_as_published),
        cmocka_unit_test(a_state_of_a_fixed_batch_is_refused),
        cmocka_unit_test(more_positions_than_there_are_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
