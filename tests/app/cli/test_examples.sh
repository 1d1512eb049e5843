# Every example of the manual and of --help that neither measures nor draws is run, and ends with the exit code that it
# tells. (reference/ecosystem.md, section 2, row 60.)
. "${MGB_SOURCE_DIR:?}/tests/app/cli/examples.sh"
prepare
try_examples no
finish
