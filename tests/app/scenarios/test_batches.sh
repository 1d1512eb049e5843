# Scenarios of batches.lua.
. "${MGB_SOURCE_DIR:?}/tests/app/scenarios/driver.sh"
scenarios batches
