# Scenarios of deep_qa.lua.
. "${MGB_SOURCE_DIR:?}/tests/app/scenarios/driver.sh"
scenarios deep_qa
