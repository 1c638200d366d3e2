#include "cli/server.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"

struct http *
server_connect(const char *run) {
    char path[4096], base[128];
    struct buf text = {0};
    struct http *h = NULL;
    snprintf(path, sizeof path, "%s/serve.json", run);
    if (file_read(path, 4096, &text, NULL) == 0) {
        json_t *card = json_loadb((const char *)text.at, text.len, 0, NULL);
        const char *host = json_string_value(json_object_get(card, "host"));
        const char *token = json_string_value(json_object_get(card, "token"));
        json_int_t port = json_integer_value(json_object_get(card, "port"));
        if (host && token && port > 0) {
            snprintf(base, sizeof base, strchr(host, ':') ? "http://[%.60s]:%d" : "http://%.60s:%d",
                     host, (int)port);
            h = http_new(base, token);
        }
        json_decref(card);
    }
    buf_free(&text);
    return h;
}
