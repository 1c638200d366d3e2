#!/bin/sh
# Prints every C source and header of the product and its tests.
cd "${1:-$(dirname "$0")/../..}" || exit 1
find base games policy store arena learner cli tests -name '*.[ch]' | sort
