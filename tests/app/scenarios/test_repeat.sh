# Scenarios of repeat.lua.
. "${MGB_SOURCE_DIR:?}/tests/app/scenarios/driver.sh"
scenarios repeat
