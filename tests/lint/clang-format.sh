#!/bin/sh
# Prints the name of a clang-format of version 14, or nothing. Versions differ in what they call well
# formatted, so only this one is asked.
for program in clang-format-14 clang-format; do
    case $("$program" --version 2>/dev/null) in
    *"version 14."*) echo "$program"; exit 0 ;;
    esac
done
