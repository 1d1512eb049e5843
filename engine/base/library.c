/* Whether a shared library is whole, by its program headers; see library.h. (ELF-64: System V ABI, chapters 4 and 5.) */
#include "engine/base/library.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The least size of the file that `header` begins; 0 when its program headers cannot be read. */
static unsigned long long size_needed(FILE *file, const ElfW(Ehdr) * header)
{
    unsigned long long most = 0;
    if (header->e_phentsize != sizeof(ElfW(Phdr)) || fseek(file, (long)header->e_phoff, SEEK_SET))
        return 0;
    for (int i = 0; i < header->e_phnum; i++) {
        ElfW(Phdr) part;
        if (fread(&part, sizeof part, 1, file) != 1)
            return 0;
        unsigned long long end = (unsigned long long)part.p_offset + part.p_filesz;
        if (part.p_type == PT_LOAD && end > most)
            most = end;
    }
    return most;
}

enum mgb_status mgb_library_check(const char *path)
{
    ElfW(Ehdr) header;
    struct stat about;
    FILE *file = fopen(path, "re");
    if (!file)
        return MGB_OK;
    bool read = fstat(fileno(file), &about) == 0 && S_ISREG(about.st_mode) &&
                fread(&header, sizeof header, 1, file) == 1 &&
                memcmp(header.e_ident, ELFMAG, SELFMAG) == 0;
    unsigned long long needed = read ? size_needed(file, &header) : 0;
    fclose(file);
    if (!read || needed <= (unsigned long long)about.st_size)
        return MGB_OK;
    return mgb_fail(MGB_MISSING,
                    "%s is cut short: it has %lld of %llu bytes; copy or build it again", path,
                    (long long)about.st_size, needed);
}
