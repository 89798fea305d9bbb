/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the __shared__ variables of a kernel are. They are static variables of functions in C++, of which device code
 * has no others, so the symbols of the program or library that holds the kernel tell: _ZZ, the name of the function
 * without its _Z, E, the name of the variable. Those of other kernels and of other sources are not the kernel's.
 * (A section of their own would be simpler, but g++ ignores sections of variables in templates.) */
#include "hostcuda_internal.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Object { /* a program or library */
    struct Object *next;
    uintptr_t base, start, stop;
    char *path;
    const char *file; /* mapped for good: names point into it */
} Object;

static Object *objects;

static int find_object(struct dl_phdr_info *info, size_t bytes, void *data)
{
    Object *object = data;
    (void)bytes;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        if (info->dlpi_phdr[i].p_type == PT_LOAD && object->start >= start &&
            object->start < start + info->dlpi_phdr[i].p_memsz) {
            object->base = info->dlpi_addr;
            object->start = start;
            object->stop = start + info->dlpi_phdr[i].p_memsz;
            object->path = strdup(*info->dlpi_name ? info->dlpi_name : "/proc/self/exe");
            return 1;
        }
    }
    return 0;
}

static void map_file(Object *object)
{
    struct stat status;
    const int file = open(object->path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &status))
        hostcuda_die("cannot read %s, which holds the kernels", object->path);
    void *mapped = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped == MAP_FAILED)
        hostcuda_die("cannot map %s, which holds the kernels", object->path);
    close(file);
    object->file = mapped;
}

static const Object *object_of(const void *address)
{
    const uintptr_t at = (uintptr_t)address;
    for (const Object *o = objects; o; o = o->next)
        if (at >= o->start && at < o->stop)
            return o;
    Object *object = hostcuda_alloc(sizeof *object);
    object->start = at;
    if (!dl_iterate_phdr(find_object, object))
        hostcuda_die("a kernel is in no program or library");
    map_file(object);
    object->next = objects;
    objects = object;
    return object;
}

typedef struct Symbols {
    const ElfW(Shdr) *sections;
    const ElfW(Sym) *symbols;
    size_t n;
    const char *names;
} Symbols;

static Symbols symbols_of(const Object *object)
{
    const ElfW(Ehdr) *header = (const void *)object->file;
    Symbols s = {(const void *)(object->file + header->e_shoff), NULL, 0, NULL};
    for (unsigned i = 0; i < header->e_shnum; i++)
        if (s.sections[i].sh_type == SHT_SYMTAB) {
            s.symbols = (const void *)(object->file + s.sections[i].sh_offset);
            s.n = s.sections[i].sh_size / sizeof *s.symbols;
            s.names = object->file + s.sections[s.sections[i].sh_link].sh_offset;
        }
    if (!s.symbols)
        hostcuda_die("%s, which holds kernels, is stripped of its symbols", object->path);
    return s;
}

static bool is_variable(const Symbols *s, const ElfW(Sym) *symbol)
{
    const char *name = s->names + symbol->st_name;
    return (symbol->st_info & 15) == STT_OBJECT && symbol->st_shndx != SHN_UNDEF && symbol->st_shndx < SHN_LORESERVE &&
           s->sections[symbol->st_shndx].sh_flags & SHF_WRITE && strncmp(name, "_ZZ", 3) == 0;
}

/* Whether the variable is of this function: _ZZ..., against _Z... or the plain name of a C function. */
static bool is_of(const char *variable, const char *function)
{
    if (strncmp(function, "_Z", 2) == 0)
        function += 2;
    const size_t n = strlen(function);
    return strncmp(variable + 3, function, n) == 0 && variable[3 + n] == 'E';
}

static void add(Kernel *kernel, HostcudaShared variable)
{
    kernel->shared = realloc(kernel->shared, (kernel->n_shared + 1) * sizeof *kernel->shared);
    if (!kernel->shared)
        hostcuda_die("out of memory");
    kernel->shared[kernel->n_shared++] = variable;
}

/* Local symbols follow the one of their source file. 0: not local. */
static size_t source_of(const Symbols *s, size_t i)
{
    if (s->symbols[i].st_info >> 4 != STB_LOCAL)
        return 0;
    while (i > 0 && (s->symbols[i].st_info & 15) != STT_FILE)
        i--;
    return i;
}

void hostcuda_find_shared(Kernel *kernel)
{
    const Object *object = object_of(kernel->function);
    const Symbols s = symbols_of(object);
    size_t source = 0;
    for (size_t i = 0; i < s.n; i++)
        if ((s.symbols[i].st_info & 15) == STT_FUNC &&
            object->base + s.symbols[i].st_value == (uintptr_t)kernel->function) {
            kernel->symbol = s.names + s.symbols[i].st_name;
            source = source_of(&s, i);
        }
    for (size_t i = 0; i < s.n; i++) {
        const char *name = s.names + s.symbols[i].st_name;
        if (is_variable(&s, &s.symbols[i]) && ((kernel->symbol && is_of(name, kernel->symbol)) ||
                                             (source && source_of(&s, i) == source)))
            add(kernel, (HostcudaShared){.start = (char *)(object->base + s.symbols[i].st_value),
                                         .bytes = s.symbols[i].st_size,
                                         .name = name});
    }
}

/* What belongs to another kernel is not this one's; what is of a device function may be. */
void hostcuda_forget_shared(Kernel *kernel, const Kernel *other)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < kernel->n_shared; i++)
        if (!other->symbol || !is_of(kernel->shared[i].name, other->symbol))
            kernel->shared[kept++] = kernel->shared[i];
    kernel->n_shared = kept;
}
