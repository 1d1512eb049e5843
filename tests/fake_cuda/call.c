/* What every entry point does first: count the call, refuse it inside a host function, fail it where a test asked for
 * that, and report a device's sticky error. */
#include "tests/fake_cuda/config.h"
#include "tests/fake_cuda/fake.h"
#include "tests/fake_cuda/fake_cuda.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FUNCTIONS 128
#define MAX_WISHES 16

static struct {
    char name[48];
    long calls;
} functions[MAX_FUNCTIONS];
static int function_count;
static long total_calls;

static struct wishes {
    struct {
        char name[48];
        long call;
        int code; /* 0: the usual one */
    } list[MAX_WISHES];
    int count;
} wishes[3]; /* by enum fake_wish */

static _Thread_local cudaError_t last_error;
static _Thread_local bool inside_host_function;
static _Thread_local struct fake_injection injection; /* for the operation of the present call */

void fake_complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("fake cuda: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

void fake_wishes_load(enum fake_wish wish, const char *name, const char *text)
{
    struct wishes *it = &wishes[wish];
    it->count = 0;
    while (*text && it->count < MAX_WISHES) {
        size_t length = strcspn(text, ":,");
        if (text[length] != ':' || length >= sizeof it->list[0].name) {
            fake_complain("%s: '%s' is not function:call[=code]", name, text);
            return;
        }
        char *end;
        memcpy(it->list[it->count].name, text, length);
        it->list[it->count].name[length] = 0;
        it->list[it->count].call = strtol(text + length + 1, &end, 10);
        it->list[it->count].code = *end == '=' ? (int)strtol(end + 1, &end, 10) : 0;
        it->count++;
        text = *end == ',' ? end + 1 : end;
    }
}

/* cublas_v2.h renames some functions; tests use the names that people write. */
static size_t name_length(const char *function)
{
    size_t length = strlen(function);
    return length > 3 && strcmp(function + length - 3, "_v2") == 0 ? length - 3 : length;
}

static bool name_matches(const char *name, const char *function, size_t length)
{
    return strncmp(name, function, length) == 0 && name[length] == 0;
}

/* The code that a test wishes for this call of the function, `usual` without one; 0 when it wishes nothing. */
static int wish_find(enum fake_wish wish, const char *function, long calls, int usual)
{
    const struct wishes *it = &wishes[wish];
    size_t length = name_length(function);
    for (int i = 0; i < it->count; i++) {
        bool any = strcmp(it->list[i].name, "*") == 0;
        if ((any && it->list[i].call == total_calls) ||
            (name_matches(it->list[i].name, function, length) && it->list[i].call == calls))
            return it->list[i].code ? it->list[i].code : usual;
    }
    return 0;
}

/* Counts the call; the code that a test wants for it, or 0. Caller holds the lock. */
static int call_count(const char *function, int usual)
{
    size_t length = name_length(function);
    int i = 0;
    while (i < function_count && !name_matches(functions[i].name, function, length))
        i++;
    if (i == function_count && i < MAX_FUNCTIONS) {
        snprintf(functions[i].name, sizeof functions[i].name, "%.*s", (int)length, function);
        function_count++;
    }
    long calls = i < MAX_FUNCTIONS ? ++functions[i].calls : 0;
    total_calls++;
    injection = (struct fake_injection){
        .hangs = wish_find(FAKE_WISH_HANG, function, calls, 1) != 0,
        .fault = wish_find(FAKE_WISH_STICKY, function, calls, cudaErrorIllegalAddress)};
    return wish_find(FAKE_WISH_FAIL, function, calls, usual);
}

struct fake_injection fake_injection_take(void)
{
    struct fake_injection taken = injection;
    injection = (struct fake_injection){.hangs = false};
    return taken;
}

static int call_check(const char *function, int usual, int not_permitted)
{
    if (inside_host_function) {
        fake_complain("%s called inside a host function", function);
        return not_permitted;
    }
    fake_config_get();
    fake_lock();
    int code = call_count(function, usual);
    fake_unlock();
    return code;
}

cudaError_t fake_enter(const char *function, cudaError_t usual)
{
    int code = call_check(function, usual, cudaErrorNotPermitted);
    if (code == 0)
        code = fake_config_get()->init_error;
    if (code == 0 && fake_config_get()->device_count == 0)
        code = cudaErrorNoDevice;
    if (code == 0)
        code = atomic_load(&fake_device_get(fake_device_current())->fault);
    return (cudaError_t)code;
}

int fake_enter_library(const char *function, int usual, int not_ready)
{
    int code = call_check(function, usual, not_ready);
    const struct fake_config *config = fake_config_get();
    if (code == 0 && (config->init_error || config->device_count == 0))
        code = not_ready;
    if (code == 0 && atomic_load(&fake_device_get(fake_device_current())->fault))
        code = usual;
    return code;
}

cudaError_t fake_error(cudaError_t error)
{
    if (error != cudaSuccess && error != cudaErrorNotReady)
        last_error = error;
    return error;
}

void fake_inside_host_function(bool inside)
{
    inside_host_function = inside;
}

cudaError_t cudaPeekAtLastError(void)
{
    return last_error;
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

long fake_cuda_calls(const char *function)
{
    long calls = 0;
    fake_lock();
    if (!function)
        calls = total_calls;
    for (int i = 0; function && i < function_count; i++)
        if (strcmp(functions[i].name, function) == 0)
            calls = functions[i].calls;
    fake_unlock();
    return calls;
}

const char *fake_cuda_function(int index)
{
    return index < function_count ? functions[index].name : NULL;
}

void fake_calls_reset(void)
{
    fake_lock();
    function_count = 0;
    total_calls = 0;
    memset(functions, 0, sizeof functions);
    fake_unlock();
    last_error = cudaSuccess;
    fake_config_forget();
}
