/* The web page's files. They need no token, since they hold nothing of the run: what the page shows
 * it asks the API for. Each has its content's hash as tag and is asked for again each time, so that
 * a page never mixes the files of two versions. */
#include "arena/api-int.h"

#include <stdio.h>
#include <string.h>

#include "arena/page.h"

static const char *
type_of(const char *name) {
    static const struct {
        const char *ending, *type;
    } types[] = {
        {".html", "text/html; charset=utf-8"},     {".js", "text/javascript; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},       {".svg", "image/svg+xml"},
        {".LICENSE", "text/plain; charset=utf-8"},
    };
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        size_t k = strlen(types[i].ending);
        if (n > k && !strcmp(name + n - k, types[i].ending))
            return types[i].type;
    }
    return "application/octet-stream";
}

static const struct page_file *
find_file(struct http_text path) {
    static const char folder[] = "/page/";
    size_t n = sizeof folder - 1;
    if (http_is(path, "/"))
        return find_file((struct http_text){"/page/index.html", strlen("/page/index.html")});
    if (path.n <= n)
        return NULL;
    struct http_text name = {path.at + n, path.n - n};
    for (const struct page_file *f = page_files; f->name; f++)
        if (http_is(name, f->name))
            return f;
    return NULL;
}

void
get_page(struct call *c) {
    struct httpd_request *q = c->q;
    const struct page_file *f = find_file(q->head.path);
    struct buf body = {0};
    char fields[256], tag[48];
    if (!f) {
        api_refuse(q, 404, "path", "there is no such file of the page");
        return;
    }
    bool zipped = http_lists(q->head.field[HTTP_ACCEPT_ENCODING], "gzip");
    snprintf(tag, sizeof tag, "W/\"%s\"", f->tag);
    bool has = api_has_tag(q, tag);
    snprintf(fields, sizeof fields,
             "Cache-Control: no-cache\r\nETag: %s\r\nVary: Accept-Encoding\r\n%s", tag,
             zipped && !has ? "Content-Encoding: gzip\r\n" : "");
    if (has) {
        httpd_answer(q, &(struct httpd_answer){.status = 304, .fields = fields});
        return;
    }
    const unsigned char *at = zipped ? f->zipped : f->plain;
    buf_add(&body, at, (size_t)((zipped ? f->zipped_end : f->plain_end) - at));
    httpd_answer(q, &(struct httpd_answer){
                        .status = 200, .type = type_of(f->name), .fields = fields, .body = &body});
}
