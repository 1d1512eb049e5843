# Scenarios of keras.lua.
. "${MGB_SOURCE_DIR:?}/tests/app/scenarios/driver.sh"
scenarios keras
