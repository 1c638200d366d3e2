#include "cli/html.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "cli/table.h"

static const char style[] =
    ":root{color-scheme:light dark;--ink:#1d1f24;--dim:#5d6470;--line:#d4d8de;--paper:#fff;"
    "--c0:#1f6feb;--c1:#c2410c;--c2:#15803d;--c3:#7c3aed;--c4:#b91c6b;--c5:#0e7490}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6e8eb;--dim:#9aa3af;--line:#3a404a;"
    "--paper:#15171b;--c0:#6ea8fe;--c1:#fb923c;--c2:#4ade80;--c3:#c4b5fd;--c4:#f472b6;"
    "--c5:#67e8f9}}"
    "body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);"
    "max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}.dim{color:var(--dim)}"
    "table{border-collapse:collapse;display:block;overflow-x:auto}"
    "th,td{padding:.2rem .8rem .2rem 0;text-align:left;border-bottom:1px solid var(--line);"
    "white-space:nowrap}.n{text-align:right;font-variant-numeric:tabular-nums}"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid var(--line);"
    "border-radius:6px;padding:.5rem .8rem;margin:.3rem 0}"
    "svg{width:100%;height:auto;max-width:52rem}svg text{fill:var(--dim);font-size:11px}"
    ".axis{stroke:var(--line);stroke-width:1}.line{fill:none;stroke-width:2;stroke-linecap:round}"
    ".s0{stroke:var(--c0)}.s1{stroke:var(--c1)}.s2{stroke:var(--c2)}.s3{stroke:var(--c3)}"
    ".s4{stroke:var(--c4)}.s5{stroke:var(--c5)}.bar{fill:var(--c0)}"
    "figure{margin:1rem 0}figcaption{color:var(--dim)}";

/* The style's SHA-256 in base64, as a content policy names it. */
static void
style_hash(char out[48]) {
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char hex[HASH_HEX];
    unsigned char b[33] = {0};
    hash_hex(style, sizeof style - 1, hex);
    for (int i = 0; i < 32; i++)
        b[i] = (unsigned char)strtoul((char[3]){hex[2 * i], hex[2 * i + 1], 0}, NULL, 16);
    for (int i = 0, o = 0; i < 33; i += 3, o += 4) {
        uint32_t v = (uint32_t)b[i] << 16 | (uint32_t)b[i + 1] << 8 | b[i + 2];
        for (int k = 0; k < 4; k++)
            out[o + k] = digit[v >> (18 - 6 * k) & 63];
    }
    out[43] = '=';
    out[44] = '\0';
}

void
html_bytes(FILE *out, const char *s, size_t n) {
    struct buf b = {0};
    term_escape(&b, s, n, true);
    for (size_t i = 0; i < b.len; i++) {
        char c = (char)b.at[i];
        const char *as = c == '&'    ? "&amp;"
                         : c == '<'  ? "&lt;"
                         : c == '>'  ? "&gt;"
                         : c == '"'  ? "&quot;"
                         : c == '\'' ? "&#39;"
                                     : NULL;
        if (as)
            fputs(as, out);
        else
            fputc(c, out);
    }
    buf_free(&b);
}

void
html_text(FILE *out, const char *s) {
    if (s)
        html_bytes(out, s, strlen(s));
    else
        fputs("&mdash;", out);
}

void
html_begin(FILE *out, const char *title) {
    char hash[48];
    style_hash(hash);
    fprintf(out,
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
            "style-src 'sha256-%s'; base-uri 'none'; form-action 'none'\">\n"
            "<meta name=\"referrer\" content=\"no-referrer\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
            hash);
    html_text(out, title);
    fprintf(out, "</title>\n<style>%s</style></head>\n<body><main>\n<h1>", style);
    html_text(out, title);
    fputs("</h1>\n", out);
}

void
html_end(FILE *out) {
    fputs("</main></body></html>\n", out);
}

/* ---- tables ---- */

static const char *
head_class(const char *head) {
    return *head == '>' ? " class=\"n\"" : "";
}

void
html_table_begin(FILE *out, const char *const *heads) {
    fputs("<table><thead><tr>", out);
    for (int i = 0; heads[i]; i++) {
        fprintf(out, "<th scope=\"col\"%s>", head_class(heads[i]));
        html_text(out, heads[i] + (*heads[i] == '>'));
        fputs("</th>", out);
    }
    fputs("</tr></thead><tbody>\n", out);
}

void
html_row(FILE *out, const char *const *heads, const char *const *cells) {
    fputs("<tr>", out);
    for (int i = 0; heads[i]; i++) {
        fprintf(out, "<td%s>", head_class(heads[i]));
        html_text(out, cells[i]);
        fputs("</td>", out);
    }
    fputs("</tr>\n", out);
}

void
html_table_end(FILE *out) {
    fputs("</tbody></table>\n", out);
}
