/* See results_file.h. Files are told by device and inode. */
#include "app/session/workbench/results_file.h"

#include <sys/stat.h>

enum mgb_status mgb_results_file_get(struct mgb_reader **out, struct mgb_results_file *file)
{
    struct stat info = {0};
    bool there = stat(file->path, &info) == 0;
    if (file->reader && (!there || info.st_dev != file->device || info.st_ino != file->inode))
        mgb_results_file_close(file);
    if (!file->reader) {
        MGB_TRY(mgb_reader_open(&file->reader, file->path));
        file->device =
            info.st_dev; /* as before opening: one that came meanwhile is opened once more */
        file->inode = info.st_ino;
    }
    *out = file->reader;
    return MGB_OK;
}

void mgb_results_file_close(struct mgb_results_file *file)
{
    mgb_reader_close(file->reader);
    file->reader = NULL;
}
