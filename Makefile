# Agon. `make` builds build/agon, `make help` lists everything else.
# Variants never mix: SAN=address,undefined or SAN=thread build into a folder of their own.
comma := ,
O      ?= build$(if $(SAN),-$(subst $(comma),-,$(SAN)))
PREFIX ?= /usr/local
CC     ?= cc
ARCH   ?= native
FOLDERS := base games policy store arena learner cli
PKGS   := libevent sqlite3 yaml-0.1 openblas jansson libzstd libcrypto libcurl

WARN   := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wvla \
          -Wpointer-arith -Wwrite-strings -Wundef $(if $(WERROR),-Werror)
OPT    ?= -O3 -march=$(ARCH)
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)
CFLAGS_ALL = -std=c11 -D_GNU_SOURCE -g -fno-common -ffp-contract=off $(OPT) $(WARN) $(SANFLAGS) -I. \
          $(shell pkg-config --cflags $(PKGS) 2>/dev/null) $(CFLAGS)
LDLIBS = $(shell pkg-config --libs $(PKGS) 2>/dev/null) -lpthread -lm -ldl
LDFLAGS_ALL = $(SANFLAGS) -rdynamic $(LDFLAGS)

# What each folder's tests link with, in link order: the include rules of docs/architecture.md.
LIBS_base    := base
LIBS_games   := games base
LIBS_policy  := policy games base
LIBS_store   := store base
LIBS_arena   := arena policy store games base
LIBS_learner := learner policy store games base

sources = $(sort $(wildcard $(1)/*.c $(1)/*/*.c))
objects = $(patsubst %.c,$(O)/%.o,$(call sources,$(1)))
libs    = $(patsubst %,$(O)/lib%.a,$(1))

all: $(O)/agon ## build the program (default)

$(O)/agon: $(call objects,cli) $(call libs,arena learner policy store games base)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LDLIBS)

$(O)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

define library
$(O)/lib$(1).a: $$(call objects,$(1))
	@rm -f $$@
	ar rcs $$@ $$^
endef
$(foreach f,$(filter-out cli,$(FOLDERS)),$(eval $(call library,$(f))))

UNIT := $(patsubst tests/%.c,$(O)/tests/%,$(sort $(wildcard tests/unit/*/*.c)))
define unit_tests
$(O)/tests/unit/$(1)/%: $(O)/tests/unit/$(1)/%.o $$(call libs,$$(LIBS_$(1)))
	$$(CC) $$(LDFLAGS_ALL) -o $$@ $$^ $$(LDLIBS) -lcmocka
endef
$(foreach f,$(filter-out cli,$(FOLDERS)),$(eval $(call unit_tests,$(f))))

unit: $(UNIT) ## build the unit tests

.PHONY: all unit
.SECONDARY:
-include $(shell find $(O) -name '*.d' 2>/dev/null)
