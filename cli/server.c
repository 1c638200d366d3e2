#include "cli/server.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"

struct card { /* what serve.json says */
    char address[96], token[64];
};

static bool
read_card(const char *run, struct card *c) {
    char path[4096];
    struct buf text = {0};
    bool good = false;
    snprintf(path, sizeof path, "%s/serve.json", run);
    if (file_read(path, 4096, &text, NULL) == 0) {
        json_t *card = json_loadb((const char *)text.at, text.len, 0, NULL);
        const char *host = json_string_value(json_object_get(card, "host"));
        const char *token = json_string_value(json_object_get(card, "token"));
        json_int_t port = json_integer_value(json_object_get(card, "port"));
        good = host && token && port > 0;
        if (good) {
            snprintf(c->address, sizeof c->address,
                     strchr(host, ':') ? "http://[%.60s]:%d" : "http://%.60s:%d", host, (int)port);
            snprintf(c->token, sizeof c->token, "%s", token);
        }
        json_decref(card);
    }
    buf_free(&text);
    return good;
}

struct http *
server_connect(const char *run) {
    struct card c;
    return read_card(run, &c) ? http_new(c.address, c.token) : NULL;
}

bool
server_page(const char *run, bool token, char out[SERVER_LINK]) {
    struct card c;
    if (!read_card(run, &c))
        return false;
    /* Listening everywhere is no address to go to. */
    const char *port = strrchr(c.address, ':');
    if (!strncmp(c.address, "http://0.0.0.0:", 15) || !strncmp(c.address, "http://[::]:", 12))
        snprintf(out, SERVER_LINK, "http://localhost%s/", port);
    else
        snprintf(out, SERVER_LINK, "%s/", c.address);
    if (token)
        snprintf(out + strlen(out), SERVER_LINK - strlen(out), "#token=%s", c.token);
    return true;
}
