# Agon. `make` builds build/agon, `make help` lists everything else.
# Variants never mix: SAN=address,undefined or SAN=thread build into a folder of their own, and a
# change of compiler or flags builds anew.
comma := ,
O      ?= build$(if $(SAN),-$(subst $(comma),-,$(SAN)))
PREFIX ?= /usr/local
ARCH   ?= native
FUZZ_TIME ?= 600
FOLDERS := base games policy store arena learner cli
PKGS   := libevent sqlite3 yaml-0.1 openblas jansson libzstd zlib libcrypto libcurl
MAKEFLAGS += --no-print-directory
NPROC  := $(shell nproc 2>/dev/null || echo 2)
ALL_CORES = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(NPROC))
Q := $(if $(V),,@)# V=1 shows the commands

# gcc warns of things that are not so in sanitizer builds, hence of nothing there.
WARN   := $(if $(SAN),-w,-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wvla \
          -Wpointer-arith -Wwrite-strings -Wundef $(if $(WERROR),-Werror))
OPT    ?= $(if $(SAN),-O1,-O3) -march=$(ARCH) -fno-math-errno
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)
CFLAGS_ALL := -std=c11 -D_GNU_SOURCE -g -fno-common -ffp-contract=off $(OPT) $(WARN) $(SANFLAGS) \
          -I. $(shell pkg-config --cflags $(PKGS) 2>/dev/null) $(CFLAGS)
LDLIBS := $(shell pkg-config --libs $(PKGS) 2>/dev/null) -lpthread -lm -ldl
LDFLAGS_ALL := $(SANFLAGS) -rdynamic $(LDFLAGS)

# What each folder's tests link with, in link order: the include rules of docs/architecture.md.
LIBS_base    := base
LIBS_games   := games base
LIBS_policy  := policy games base
LIBS_store   := store base
LIBS_arena   := arena policy store games base
LIBS_learner := learner policy store games base
LIBS_all     := arena learner policy store games base

sources = $(sort $(wildcard $(1)/*.c $(1)/*/*.c))
objects = $(patsubst %.c,$(O)/%.o,$(call sources,$(1)))
libs    = $(patsubst %,$(O)/lib%.a,$(1))
link    = @echo "  LINK $@"; $(if $(V),set -x;) $(CC) $(LDFLAGS_ALL) -o $@ $(filter %.o %.a,$^) $(LDLIBS)

all: $(O)/agon ## build build/agon (default)

$(O)/agon: $(call objects,cli) $(call libs,$(LIBS_all))
	$(link)

# The flags of the last build: everything depends on this file, which changes when they do.
$(O)/flags: FORCE
	@pkg-config --exists $(PKGS) || { echo 'Libraries are missing: run `make deps` first.'; exit 1; }
	@mkdir -p $(@D)
	@echo '$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) $(LDLIBS)' | cmp -s - $@ || \
	 echo '$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) $(LDLIBS)' > $@

$(O)/%.o: %.c Makefile $(O)/flags
	@mkdir -p $(@D)
	@echo "  CC   $<"
	$(Q)$(CC) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

# The assembler includes these, which -MMD does not see.
$(O)/store/schema.o: store/schema.sql store/schema-2.sql store/schema-3.sql store/views.sql
$(O)/arena/api.o: arena/openapi.json

# The web page becomes part of the program, too.
PAGE := $(sort $(wildcard $(addprefix page/,*.html *.css *.js *.svg views/*.js vendor/*.js vendor/*.css vendor/*.LICENSE)))
$(O)/page-files.c: $(PAGE) tools/embed.sh Makefile
	@mkdir -p $(@D)
	@echo "  PAGE $@"
	$(Q)tools/embed.sh page $@ $(PAGE:page/%=%)
$(O)/page-files.o: $(O)/page-files.c $(O)/flags
	@echo "  CC   $<"
	$(Q)$(CC) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<
$(O)/libarena.a: $(O)/page-files.o

define library
$(O)/lib$(1).a: $$(call objects,$(1))
	@rm -f $$@
	@ar rcs $$@ $$(filter %.o,$$^)
endef
$(foreach f,$(filter-out cli,$(FOLDERS)),$(eval $(call library,$(f))))

# Tests: tests/unit/<folder>/test_*.c link with that folder's libraries, tests/fuzz and tests/bench
# with all of them; tests/int are scripts that get the program's path in AGON
# (lib* is what they share).
programs = $(patsubst %.c,$(O)/%,$(sort $(wildcard $(1))))
UNIT  := $(call programs,tests/unit/*/test_*.c)
FUZZ  := $(call programs,tests/fuzz/fuzz_*.c)
BENCH := $(call programs,tests/bench/bench_*.c)
INT   := $(filter-out tests/int/lib%,$(sort $(wildcard tests/int/*.sh tests/int/*.py)))
LINT  := tests/lint/lint.sh tests/lint/test.sh
# Tests of threaded code say so in a comment, and run under ThreadSanitizer as well.
THREADED := $(patsubst %.c,$(O)/%,$(shell grep -l 'ThreadSanitizer too' \
              tests/unit/*/test_*.c 2>/dev/null))

define unit_tests
$(O)/tests/unit/$(1)/%: $(O)/tests/unit/$(1)/%.o $$(call libs,$$(LIBS_$(1)))
	$$(link) -lcmocka
endef
$(foreach f,$(filter-out cli,$(FOLDERS)),$(eval $(call unit_tests,$(f))))

# libFuzzer brings a main function (SAN=...,fuzzer-no-link); otherwise replay.c is one.
LIBFUZZER := $(findstring fuzzer,$(SAN))
$(O)/tests/fuzz/%: $(O)/tests/fuzz/%.o $(if $(LIBFUZZER),,$(O)/tests/fuzz/replay.o) \
                   $(call libs,$(LIBS_all))
	$(link) $(if $(LIBFUZZER),-fsanitize=fuzzer)

$(O)/tests/bench/%: $(O)/tests/bench/%.o $(call libs,$(LIBS_all))
	$(link)

RUN   := AGON=$(abspath $(O)/agon) AGON_ASAN=$(abspath $(O)-asan/agon) tests/run.sh
ASAN  := SAN=address,undefined O=$(O)-asan
TSAN  := SAN=thread O=$(O)-tsan

check: ## everything: install what is missing, build, lint, all tests, sanitizers (10 minutes)
	@tools/deps.sh check
	@$(MAKE) $(ALL_CORES) check-run

check-run: all programs asan-programs tsan-programs
	@$(RUN) -s $(O)/check.summary -j$(NPROC) $(LINT) $(UNIT) \
	 $(UNIT:$(O)/%=$(O)-asan/%) $(FUZZ:$(O)/%=$(O)-asan/%) $(THREADED:$(O)/%=$(O)-tsan/%) -j1 $(INT)

unit: $(UNIT) ## unit tests only
	@$(RUN) -j$(NPROC) $(UNIT)

int: all ## integration tests only
	@$(RUN) $(INT)

san: asan-programs tsan-programs ## unit tests and fuzz corpora under the sanitizers
	@$(RUN) -j$(NPROC) $(UNIT:$(O)/%=$(O)-asan/%) $(FUZZ:$(O)/%=$(O)-asan/%) $(THREADED:$(O)/%=$(O)-tsan/%)

fuzz-replay: asan-fuzz ## run the stored fuzz inputs once more
	@$(RUN) -j$(NPROC) $(FUZZ:$(O)/%=$(O)-asan/%)

fuzz: ## search for new crashing inputs with libFuzzer, FUZZ_TIME=600 seconds each; needs clang
	@$(MAKE) $(ALL_CORES) CC=clang SAN=address,undefined,fuzzer-no-link O=$(O)-fuzz fuzz-programs
	@tests/fuzz/run.sh $(O)-fuzz $(FUZZ_TIME)

programs: $(UNIT)
fuzz-programs: $(FUZZ)
asan-programs: ; @$(MAKE) $(ASAN) all programs fuzz-programs
asan-fuzz:     ; @$(MAKE) $(ASAN) fuzz-programs
tsan-programs: ; @$(MAKE) $(TSAN) threaded-programs
threaded-programs: $(THREADED)

bench: all $(BENCH) ## measure speed, one line a number
	@AGON=$(abspath $(O)/agon) tests/bench/run.sh $(BENCH) $(sort $(wildcard tests/bench/*_loop.sh tests/bench/bench_*.py))

sig: all ## one hash of a fixed schedule; the same for any number of workers, compiler, sanitizer
	@AGON=$(abspath $(O)/agon) tests/sig.sh

experiments: all ## run the experiments behind docs/ (hours; each script says what it needs)
	@for s in $(filter-out %/lib.sh,$(sort $(wildcard tests/experiments/*.sh))); do \
	 echo "== $$s"; AGON=$(abspath $(O)/agon) $$s || exit 1; done

lint: ## formatting, include rules, function length, tables in order
	@tests/lint/lint.sh

format: ## let clang-format have its way
	@tests/lint/files.sh | xargs "$$(tests/lint/clang-format.sh)" -i

deps: ## install the packages that building and testing need
	@tools/deps.sh check

demo: ## train Kuhn poker for five minutes, on a fresh machine too
	@tools/deps.sh build
	@$(MAKE) $(ALL_CORES) all
	$(O)/agon train configs/kuhn.yaml --time 5m
	@printf '%s\n' '' 'The run is in runs/kuhn; the same command goes on with it. Look around:' \
	 '  $(O)/agon matches' '  $(O)/agon replay latest' '  $(O)/agon eval latest' \
	 '  $(O)/agon play kuhn_poker --against latest' '  $(O)/agon help'

install: all ## into PREFIX (/usr/local), below DESTDIR
	install -D -m 755 $(O)/agon $(DESTDIR)$(PREFIX)/bin/agon
	install -d $(DESTDIR)$(PREFIX)/share/agon/configs
	install -m 644 configs/*.yaml $(DESTDIR)$(PREFIX)/share/agon/configs
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/include/agon/games games/game.h
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/agon/bridges games/bridges/*.py
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/include/agon/base base/err.h base/text.h
	install -d $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/man/man5 \
	 $(DESTDIR)$(PREFIX)/share/bash-completion/completions
	$(O)/agon help --man >$(DESTDIR)$(PREFIX)/share/man/man1/agon.1
	$(O)/agon help --man-options >$(DESTDIR)$(PREFIX)/share/man/man5/agon.yaml.5
	$(O)/agon help --completion >$(DESTDIR)$(PREFIX)/share/bash-completion/completions/agon

clean: ## remove everything that was built
	rm -rf $(O) $(O)-asan $(O)-tsan $(O)-fuzz build-*

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: all check check-run unit int san fuzz-replay fuzz programs fuzz-programs asan-programs asan-fuzz \
        tsan-programs threaded-programs bench sig experiments lint format deps demo install clean help FORCE
.SECONDARY:
.DELETE_ON_ERROR:
-include $(shell find $(O) -name '*.d' 2>/dev/null)
