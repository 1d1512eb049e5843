/* The command line program. */
#include "app/program.h"

int main(int argc, char **argv)
{
    return mgb_program_run(&mgb_manual_mgbench, mgb_cli_run, NULL, argc, argv);
}
