# Scenarios of texts.lua.
. "${MGB_SOURCE_DIR:?}/tests/app/scenarios/driver.sh"
scenarios texts
