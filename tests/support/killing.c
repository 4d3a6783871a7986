/* Stands between a program and the C library: ends the program before its n-th change of the disk, or lets that change fail.
 *
 * Only what concerns files below one folder counts. `killing_arm` begins to count; tests/killing.py calls it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static char root[PATH_MAX];
static size_t root_length;
static long at;         /* which change; 0: none */
static int code;        /* the errno that it fails with; 0: the process is killed */
static int halves;      /* whether a write is killed in its middle */
static int persistent;  /* whether all later changes but taking away fail, too */
static long seen;
static int in_steps;    /* whether names cannot be exchanged at once */
static int log_file = -1;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

void killing_arm(const char *folder, long number, int error, int half, int forever, int steps, const char *log) {
    seen = 0;
    at = number, code = error, halves = half, persistent = forever, in_steps = steps;
    log_file = REAL(open)(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    strncpy(root, folder, sizeof root - 1);
    root_length = strlen(root);
}

static void place_of(int folder, const char *path, char *place) {
    char link[64];
    ssize_t length = 0;
    place[0] = 0;
    if (path == NULL || path[0] != '/') {
        if (folder == AT_FDCWD) {
            if (getcwd(place, PATH_MAX) == NULL) place[0] = 0;
        } else {
            snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
            length = readlink(link, place, PATH_MAX - 1);
            place[length < 0 ? 0 : length] = 0;
        }
        if (path == NULL) return;
        strncat(place, "/", PATH_MAX - strlen(place) - 1);
    }
    strncat(place, path, PATH_MAX - strlen(place) - 1);
}

/* What is to be done with a change: 0 do it, 1 let it fail, 2 do half of it and die. */
static int turn(const char *name, int folder, const char *path, int takes_away) {
    char place[PATH_MAX], line[PATH_MAX + 64];
    int saved = errno, mine;
    long number;
    if (root_length == 0) return 0;
    place_of(folder, path, place);
    if (strncmp(place, root, root_length) != 0) {
        errno = saved;
        return 0;
    }
    number = __sync_add_and_fetch(&seen, 1);
    if (log_file >= 0) {
        int length = snprintf(line, sizeof line, "%s %s\n", name, place);
        if (REAL(write)(log_file, line, (size_t)length) < 0) log_file = -1;
    }
    mine = at > 0 && (number == at || (persistent && number > at && !takes_away));
    if (mine && code == 0 && !(halves && strcmp(name, "write") == 0)) kill(getpid(), SIGKILL);
    errno = saved;
    if (mine && code == 0) return 2;
    if (mine) errno = code;
    return mine;
}

#define FAILS(name, folder, path) if (turn(#name, folder, path, 0) == 1) return -1
#define FAILS_TO_TAKE(name, folder, path) if (turn(#name, folder, path, 1) == 1) return -1

static int makes(int flags) { return (flags & (O_CREAT | O_TRUNC)) != 0 || (flags & O_TMPFILE) == O_TMPFILE; }

#define OPEN(name) int name(const char *path, int flags, ...) { \
    va_list rest; va_start(rest, flags); mode_t mode = makes(flags) ? va_arg(rest, mode_t) : 0; va_end(rest); \
    if (makes(flags)) FAILS(name, AT_FDCWD, path); \
    return REAL(name)(path, flags, mode); }
#define OPENAT(name) int name(int folder, const char *path, int flags, ...) { \
    va_list rest; va_start(rest, flags); mode_t mode = makes(flags) ? va_arg(rest, mode_t) : 0; va_end(rest); \
    if (makes(flags)) FAILS(name, folder, path); \
    return REAL(name)(folder, path, flags, mode); }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

ssize_t write(int file, const void *data, size_t size) {
    int what = turn("write", file, NULL, 0);
    if (what == 1) return -1;
    ssize_t done = REAL(write)(file, data, what == 2 ? size / 2 : size);
    if (what == 2) kill(getpid(), SIGKILL);
    return done;
}
ssize_t pwrite(int file, const void *data, size_t size, off_t where) {
    FAILS(pwrite, file, NULL);
    return REAL(pwrite)(file, data, size, where);
}
ssize_t pwrite64(int file, const void *data, size_t size, off64_t where) {
    FAILS(pwrite64, file, NULL);
    return REAL(pwrite64)(file, data, size, where);
}
ssize_t writev(int file, const struct iovec *pieces, int count) {
    FAILS(writev, file, NULL);
    return REAL(writev)(file, pieces, count);
}
extern ssize_t sendfile(int, int, off_t *, size_t);
extern ssize_t sendfile64(int, int, off64_t *, size_t);
ssize_t sendfile(int file, int from, off_t *where, size_t size) {
    FAILS(sendfile, file, NULL);
    return REAL(sendfile)(file, from, where, size);
}
ssize_t sendfile64(int file, int from, off64_t *where, size_t size) {
    FAILS(sendfile64, file, NULL);
    return REAL(sendfile64)(file, from, where, size);
}
ssize_t copy_file_range(int from, off64_t *begin, int file, off64_t *where, size_t size, unsigned flags) {
    FAILS(copy_file_range, file, NULL);
    return REAL(copy_file_range)(from, begin, file, where, size, flags);
}
int ftruncate(int file, off_t size) { FAILS(ftruncate, file, NULL); return REAL(ftruncate)(file, size); }
int ftruncate64(int file, off64_t size) { FAILS(ftruncate64, file, NULL); return REAL(ftruncate64)(file, size); }
int fsync(int file) { FAILS(fsync, file, NULL); return REAL(fsync)(file); }
int fdatasync(int file) { FAILS(fdatasync, file, NULL); return REAL(fdatasync)(file); }
int rename(const char *old, const char *fresh) { FAILS(rename, AT_FDCWD, fresh); return REAL(rename)(old, fresh); }
int renameat(int a, const char *old, int b, const char *fresh) {
    FAILS(renameat, b, fresh);
    return REAL(renameat)(a, old, b, fresh);
}
int renameat2(int a, const char *old, int b, const char *fresh, unsigned flags) {
    if (in_steps && root_length > 0) {
        errno = EINVAL;
        return -1;
    }
    FAILS(renameat2, b, fresh);
    return REAL(renameat2)(a, old, b, fresh, flags);
}
int link(const char *old, const char *fresh) { FAILS(link, AT_FDCWD, fresh); return REAL(link)(old, fresh); }
int linkat(int a, const char *old, int b, const char *fresh, int flags) {
    FAILS(linkat, b, fresh);
    return REAL(linkat)(a, old, b, fresh, flags);
}
int symlink(const char *to, const char *path) { FAILS(symlink, AT_FDCWD, path); return REAL(symlink)(to, path); }
int symlinkat(const char *to, int folder, const char *path) {
    FAILS(symlinkat, folder, path);
    return REAL(symlinkat)(to, folder, path);
}
int unlink(const char *path) { FAILS_TO_TAKE(unlink, AT_FDCWD, path); return REAL(unlink)(path); }
int unlinkat(int folder, const char *path, int flags) {
    FAILS_TO_TAKE(unlinkat, folder, path);
    return REAL(unlinkat)(folder, path, flags);
}
int rmdir(const char *path) { FAILS_TO_TAKE(rmdir, AT_FDCWD, path); return REAL(rmdir)(path); }
int mkdir(const char *path, mode_t mode) { FAILS(mkdir, AT_FDCWD, path); return REAL(mkdir)(path, mode); }
int mkdirat(int folder, const char *path, mode_t mode) { FAILS(mkdirat, folder, path); return REAL(mkdirat)(folder, path, mode); }
int chmod(const char *path, mode_t mode) { FAILS(chmod, AT_FDCWD, path); return REAL(chmod)(path, mode); }
int fchmod(int file, mode_t mode) { FAILS(fchmod, file, NULL); return REAL(fchmod)(file, mode); }
int fchmodat(int folder, const char *path, mode_t mode, int flags) {
    FAILS(fchmodat, folder, path);
    return REAL(fchmodat)(folder, path, mode, flags);
}
