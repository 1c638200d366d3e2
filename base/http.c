/* One libcurl easy handle is kept for the life of the object, so that libcurl reuses the
 * connection.
 *
 * When a kept-alive connection breaks before an answer, libcurl would send the request again by
 * itself. For a request that changes something that is wrong: the server may have obeyed the
 * first one. So bodies come from a callback that cannot be wound back, and libcurl gives up
 * instead. */
#include "base/http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

#include "base/mem.h"

struct http {
    CURL *curl;
    struct curl_slist *headers;
    char *base;
    struct buf url, body;
    const char *send; /* what is left of the request's body */
    size_t send_left;
    int status;
    bool too_long;
    bool (*stop)(void *arg);
    void *stop_arg;
    char what[256]; /* "POST /api/leases", for sentences */
    char why[CURL_ERROR_SIZE];
};

static size_t
receive(char *p, size_t size, size_t count, void *arg) {
    struct http *h = arg;
    size_t n = size * count;
    if (n > HTTP_MAX_ANSWER - h->body.len) {
        h->too_long = true;
        return 0;
    }
    buf_add(&h->body, p, n);
    return n;
}

static size_t
give(char *p, size_t size, size_t count, void *arg) {
    struct http *h = arg;
    size_t n = size * count < h->send_left ? size * count : h->send_left;
    memcpy(p, h->send, n);
    h->send += n;
    h->send_left -= n;
    return n;
}

static int
progress(void *arg, curl_off_t dltotal, curl_off_t dlnow, curl_off_t ultotal, curl_off_t ulnow) {
    struct http *h = arg;
    (void)dltotal;
    (void)dlnow;
    (void)ultotal;
    (void)ulnow;
    return h->stop && h->stop(h->stop_arg);
}

static void
add_header(struct http *h, const char *line) {
    struct curl_slist *more = curl_slist_append(h->headers, line);
    ensure(more);
    h->headers = more;
}

struct http *
http_new(const char *base, const char *token) {
    struct http *h = mem_zero(1, sizeof *h);
    h->base = mem_text(base);
    h->curl = curl_easy_init();
    ensure(h->curl);
    add_header(h, "Content-Type: application/json");
    add_header(h, "Expect:"); /* a 100-continue round trip would only cost time */
    if (token) {
        struct buf line = {0};
        buf_fmt(&line, "Authorization: Bearer %s", token);
        add_header(h, buf_text(&line));
        buf_free(&line);
    }
    curl_easy_setopt(h->curl, CURLOPT_HTTPHEADER, h->headers);
    curl_easy_setopt(h->curl, CURLOPT_PROTOCOLS_STR, "http");
    curl_easy_setopt(h->curl, CURLOPT_PROXY, "");
    curl_easy_setopt(h->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(h->curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(h->curl, CURLOPT_ERRORBUFFER, h->why);
    curl_easy_setopt(h->curl, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(h->curl, CURLOPT_WRITEDATA, h);
    curl_easy_setopt(h->curl, CURLOPT_READFUNCTION, give);
    curl_easy_setopt(h->curl, CURLOPT_READDATA, h);
    curl_easy_setopt(h->curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(h->curl, CURLOPT_XFERINFOFUNCTION, progress);
    curl_easy_setopt(h->curl, CURLOPT_XFERINFODATA, h);
    return h;
}

void
http_free(struct http *h) {
    if (!h)
        return;
    curl_easy_cleanup(h->curl);
    curl_slist_free_all(h->headers);
    buf_free(&h->url);
    buf_free(&h->body);
    free(h->base);
    free(h);
}

void
http_set_stop(struct http *h, bool (*stop)(void *arg), void *arg) {
    h->stop = stop;
    h->stop_arg = arg;
}

int
http_call(struct http *h, const char *method, const char *path, const void *body, size_t n,
          double seconds, struct err *e) {
    buf_clear(&h->body);
    buf_clear(&h->url);
    buf_fmt(&h->url, "%s%s", h->base, path);
    snprintf(h->what, sizeof h->what, "%s %s", method, path);
    h->status = 0;
    h->too_long = false;
    h->why[0] = '\0';
    curl_easy_setopt(h->curl, CURLOPT_URL, buf_text(&h->url));
    curl_easy_setopt(h->curl, CURLOPT_TIMEOUT_MS, (long)(seconds * 1000));
    h->send = body;
    h->send_left = body ? n : 0;
    curl_easy_setopt(h->curl, body ? CURLOPT_POST : CURLOPT_HTTPGET, 1L);
    if (body)
        curl_easy_setopt(h->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)n);
    curl_easy_setopt(h->curl, CURLOPT_CUSTOMREQUEST, method);
    CURLcode got = curl_easy_perform(h->curl);
    if (h->too_long)
        return err_set(e, "%s%s: the answer is longer than %u bytes", h->base, path,
                       HTTP_MAX_ANSWER);
    if (got == CURLE_ABORTED_BY_CALLBACK)
        return err_set(e, "%s at %s: given up on request", h->what, h->base);
    if (got != CURLE_OK)
        return err_set(e, "%s at %s: %s", h->what, h->base,
                       h->why[0] ? h->why : curl_easy_strerror(got));
    long status = 0;
    curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, &status);
    h->status = (int)status;
    return h->status;
}

const struct buf *
http_body(const struct http *h) {
    return &h->body;
}

json_t *
http_json(const struct http *h, struct err *e) {
    json_error_t why;
    json_t *v = json_loadb(h->body.len ? (const char *)h->body.at : "", h->body.len,
                           JSON_REJECT_DUPLICATES, &why);
    if (!v)
        err_set(e, "%s at %s: the answer is no JSON: %s", h->what, h->base, why.text);
    return v;
}

int
http_refusal(const struct http *h, struct err *e) {
    json_t *v = http_json(h, NULL);
    json_t *error = json_object_get(v, "error");
    const char *code = json_string_value(json_object_get(error, "code"));
    const char *message = json_string_value(json_object_get(error, "message"));
    err_set(e, "%s at %s: answer %d%s%s%s%s", h->what, h->base, h->status, code ? " " : "",
            code ? code : "", message ? ": " : "", message ? message : "");
    json_decref(v);
    return -1;
}
