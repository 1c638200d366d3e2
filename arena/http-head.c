/* One pass finds the end of a head and refuses bytes that no head may have; a second one, over the
 * whole head, reads it. */
#include "arena/http-head.h"

#include <string.h>
#include <strings.h>

#include "base/utf8.h"

/* ---- bytes ---- */

bool
http_is(struct http_text t, const char *s) {
    return t.at && t.n == strlen(s) && !memcmp(t.at, s, t.n);
}

bool
http_like(struct http_text t, const char *s) {
    return t.at && t.n == strlen(s) && !strncasecmp(t.at, s, t.n);
}

static bool
is_token(unsigned char c) { /* of methods and field names */
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool
is_blank(char c) {
    return c == ' ' || c == '\t';
}

static struct http_text
trim(const char *p, size_t n) {
    while (n && is_blank(*p))
        p++, n--;
    while (n && is_blank(p[n - 1]))
        n--;
    return (struct http_text){p, n};
}

static bool
is_refused(struct http_text parameters) {
    while (parameters.n) {
        const char *end = memchr(parameters.at, ';', parameters.n);
        size_t n = end ? (size_t)(end - parameters.at) : parameters.n;
        struct http_text one = trim(parameters.at, n);
        if (one.n >= 3 && !strncasecmp(one.at, "q=0", 3) && strspn(one.at + 3, ".0") >= one.n - 3)
            return true;
        n += end != NULL;
        parameters.at += n;
        parameters.n -= n;
    }
    return false;
}

bool
http_lists(struct http_text t, const char *word) {
    while (t.at && t.n) {
        const char *comma = memchr(t.at, ',', t.n);
        size_t n = comma ? (size_t)(comma - t.at) : t.n;
        const char *semicolon = memchr(t.at, ';', n);
        size_t name = semicolon ? (size_t)(semicolon - t.at) : n;
        if (http_like(trim(t.at, name), word))
            return !is_refused((struct http_text){t.at + name, n - name});
        n += comma != NULL;
        t.at += n;
        t.n -= n;
    }
    return false;
}

static int
refuse(struct http_head *h, int status, const char *wrong) {
    h->status = status;
    h->wrong = wrong;
    return -1;
}

/* ---- the end ---- */

/* Looks at byte i. 1: the head ends with it. */
static int
check_byte(const char *p, size_t n, size_t i, struct http_head *h) {
    unsigned char c = (unsigned char)p[i];
    if (c == '\n') {
        if (!i || p[i - 1] != '\r')
            return refuse(h, 400, "a line ends with a bare line feed");
        return i >= 3 && p[i - 2] == '\n';
    }
    if (c == '\r') {
        if (i + 1 < n && p[i + 1] != '\n')
            return refuse(h, 400, "a carriage return stands alone");
        return 0;
    }
    if ((c < ' ' && c != '\t') || c == 0x7f)
        return refuse(h, 400, "the head holds a control character");
    return 0;
}

long
http_head_end(const char *p, size_t n, size_t *seen, struct http_head *h) {
    if (n && (*p < 'A' || *p > 'Z'))
        return refuse(h, 400, "this is no HTTP request");
    size_t most = n < HTTP_HEAD_MOST ? n : HTTP_HEAD_MOST;
    for (size_t i = *seen; i < most; i++) {
        int got = check_byte(p, n, i, h);
        if (got)
            return got < 0 ? -1 : (long)i + 1;
    }
    if (n >= HTTP_HEAD_MOST)
        return refuse(h, 431, "the head is longer than 32768 bytes");
    /* The byte behind a last carriage return is not there yet: it is looked at again. */
    *seen = most && p[most - 1] == '\r' ? most - 1 : most;
    return 0;
}

/* ---- the request line ---- */

static enum http_method
find_method(struct http_text t) {
    static const char *const names[] = {"GET", "HEAD", "POST", "DELETE"};
    for (int i = 0; i < HTTP_OTHER; i++)
        if (http_is(t, names[i]))
            return (enum http_method)i;
    return HTTP_OTHER;
}

static int
read_target(struct http_text t, struct http_head *h) {
    if (t.n > HTTP_TARGET_MOST)
        return refuse(h, 414, "the target is longer than 4096 bytes");
    if (!t.n || *t.at != '/')
        return refuse(h, 400, "the target must begin with a slash");
    for (size_t i = 0; i < t.n; i++)
        if (t.at[i] <= ' ' || t.at[i] >= 0x7f || t.at[i] == '#')
            return refuse(h, 400, "the target holds a character that must be percent-coded");
    const char *mark = memchr(t.at, '?', t.n);
    h->path = (struct http_text){t.at, mark ? (size_t)(mark - t.at) : t.n};
    if (mark)
        h->query = (struct http_text){mark + 1, t.n - h->path.n - 1};
    return 0;
}

static int
read_version(struct http_text t, struct http_head *h) {
    if (http_is(t, "HTTP/1.1"))
        h->minor = 1;
    else if (!http_is(t, "HTTP/1.0"))
        return t.n == 8 && !memcmp(t.at, "HTTP/", 5)
                   ? refuse(h, 505, "only HTTP/1.1 and HTTP/1.0 are spoken here")
                   : refuse(h, 400, "the request line must end with HTTP/1.1");
    h->keep_alive = h->minor == 1;
    return 0;
}

static int
read_request_line(const char *p, size_t n, struct http_head *h) {
    const char *first = memchr(p, ' ', n);
    const char *second = first ? memchr(first + 1, ' ', n - (size_t)(first + 1 - p)) : NULL;
    if (!second)
        return refuse(h, 400, "the request line must be METHOD TARGET HTTP/1.1");
    struct http_text method = {p, (size_t)(first - p)};
    for (size_t i = 0; i < method.n; i++)
        if (!is_token((unsigned char)p[i]))
            return refuse(h, 400, "the method is no word");
    if (method.n > 20)
        return refuse(h, 400, "the method is too long");
    h->method = find_method(method);
    if (read_target((struct http_text){first + 1, (size_t)(second - first - 1)}, h) < 0)
        return -1;
    return read_version((struct http_text){second + 1, n - (size_t)(second + 1 - p)}, h);
}

/* ---- fields ---- */

static const char *const names[HTTP_NAMES] = {
    [HTTP_ACCEPT_ENCODING] = "accept-encoding",
    [HTTP_AUTHORIZATION] = "authorization",
    [HTTP_CACHE_CONTROL] = "cache-control",
    [HTTP_CONNECTION] = "connection",
    [HTTP_CONTENT_LENGTH] = "content-length",
    [HTTP_CONTENT_TYPE] = "content-type",
    [HTTP_EXPECT] = "expect",
    [HTTP_HOST] = "host",
    [HTTP_IF_NONE_MATCH] = "if-none-match",
    [HTTP_LAST_EVENT_ID] = "last-event-id",
    [HTTP_ORIGIN] = "origin",
    [HTTP_SEC_FETCH_MODE] = "sec-fetch-mode",
    [HTTP_SEC_FETCH_SITE] = "sec-fetch-site",
    [HTTP_TRANSFER_ENCODING] = "transfer-encoding",
};

static int
read_field(const char *p, size_t n, struct http_head *h) {
    if (is_blank(*p))
        return refuse(h, 400, "a field is folded over several lines");
    const char *colon = memchr(p, ':', n);
    size_t len = colon ? (size_t)(colon - p) : 0;
    if (!len)
        return refuse(h, 400, "a field has no name");
    for (size_t i = 0; i < len; i++)
        if (!is_token((unsigned char)p[i]))
            return refuse(h, 400, "a field's name holds a character that it must not");
    if (++h->fields > HTTP_FIELDS_MOST)
        return refuse(h, 431, "there are more than 64 fields");
    for (int i = 0; i < HTTP_NAMES; i++) {
        if (!http_like((struct http_text){p, len}, names[i]))
            continue;
        struct http_text value = trim(colon + 1, n - len - 1);
        bool more = h->field[i].at && i == HTTP_CACHE_CONTROL; /* a list in several fields */
        if (h->field[i].at && !more)
            return refuse(h, 400, "a field that may be there once is there twice");
        if (!more || http_lists(value, "no-cache")) /* all that anybody here looks for in it */
            h->field[i] = value;
        return 0;
    }
    return 0;
}

static int
read_length(struct http_text t, struct http_head *h) {
    if (!t.n || t.n > 18 || (t.n > 1 && *t.at == '0'))
        return refuse(h, 400, "Content-Length is no plain number");
    for (size_t i = 0; i < t.n; i++) {
        if (t.at[i] < '0' || t.at[i] > '9')
            return refuse(h, 400, "Content-Length is no plain number");
        h->length = h->length * 10 + (uint64_t)(t.at[i] - '0');
    }
    return 0;
}

/* How long is the body? Where two answers are possible, none is taken. */
static int
read_framing(struct http_head *h) {
    struct http_text coding = h->field[HTTP_TRANSFER_ENCODING];
    if (coding.at) {
        if (h->field[HTTP_CONTENT_LENGTH].at)
            return refuse(h, 400, "Content-Length and Transfer-Encoding exclude each other");
        if (h->minor == 0)
            return refuse(h, 400, "HTTP/1.0 has no Transfer-Encoding");
        if (!http_like(coding, "chunked"))
            return refuse(h, 501, "the only Transfer-Encoding is chunked");
        h->chunked = true;
    } else if (h->field[HTTP_CONTENT_LENGTH].at) {
        if (read_length(h->field[HTTP_CONTENT_LENGTH], h) < 0)
            return -1;
    }
    if ((h->chunked || h->length) && h->method != HTTP_POST && h->method != HTTP_OTHER)
        return refuse(h, 400, "only POST has a body");
    return 0;
}

static int
read_meaning(struct http_head *h) {
    struct http_text connection = h->field[HTTP_CONNECTION];
    if (!h->field[HTTP_HOST].at)
        return refuse(h, 400, "there is no Host field");
    if (read_framing(h) < 0)
        return -1;
    if (http_lists(connection, "close"))
        h->keep_alive = false;
    else if (h->minor == 0 && http_lists(connection, "keep-alive"))
        h->keep_alive = true;
    if (h->field[HTTP_EXPECT].at) {
        if (!http_like(h->field[HTTP_EXPECT], "100-continue"))
            return refuse(h, 417, "the only expectation is 100-continue");
        h->expects = h->minor == 1;
    }
    return 0;
}

int
http_head_read(const char *p, size_t n, struct http_head *h) {
    *h = (struct http_head){0};
    size_t seen = 0;
    if (http_head_end(p, n, &seen, h) != (long)n)
        return h->status ? -1 : refuse(h, 400, "the head is not complete");
    bool first = true;
    for (size_t at = 0; at + 2 < n;) {
        const char *end = memchr(p + at, '\r', n - at); /* the end was found: never NULL */
        size_t len = (size_t)(end - (p + at));
        if (first ? read_request_line(p, len, h) < 0 : read_field(p + at, len, h) < 0)
            return -1;
        first = false;
        at += len + 2;
    }
    return read_meaning(h);
}

/* ---- query strings ---- */

static int
hex_digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Decodes one name or value to *out; NULL when it cannot be. */
static char *
decode(struct http_text t, char *out, const char **wrong) {
    char *start = out;
    for (size_t i = 0; i < t.n; i++) {
        char c = t.at[i];
        if (c == '+') {
            c = ' ';
        } else if (c == '%') {
            int high = i + 2 < t.n ? hex_digit(t.at[i + 1]) : -1;
            int low = i + 2 < t.n ? hex_digit(t.at[i + 2]) : -1;
            if (high < 0 || low < 0) {
                *wrong = "the query holds a percent sign without two hexadecimal digits";
                return NULL;
            }
            c = (char)(high << 4 | low);
            i += 2;
        }
        if ((unsigned char)c < ' ' || c == 0x7f) {
            *wrong = "the query holds a control character";
            return NULL;
        }
        *out++ = c;
    }
    if (utf8_valid(start, (size_t)(out - start)) != (size_t)(out - start)) {
        *wrong = "the query is not UTF-8";
        return NULL;
    }
    *out++ = '\0';
    return out;
}

int
http_query_read(struct http_text t, struct http_query *q, const char **wrong) {
    char *out = q->room;
    q->n = 0;
    if (t.n > HTTP_TARGET_MOST) {
        *wrong = "the query is too long";
        return -1;
    }
    while (t.at && t.n) {
        const char *end = memchr(t.at, '&', t.n);
        size_t n = end ? (size_t)(end - t.at) : t.n;
        const char *equal = memchr(t.at, '=', n);
        size_t name = equal ? (size_t)(equal - t.at) : n;
        if (q->n == HTTP_QUERY_MOST) {
            *wrong = "the query has more than 16 parameters";
            return -1;
        }
        if (!name || !equal) {
            *wrong = "the query must be name=value&name=value";
            return -1;
        }
        char *value = decode((struct http_text){t.at, name}, out, wrong);
        char *next =
            value ? decode((struct http_text){equal + 1, n - name - 1}, value, wrong) : NULL;
        if (!next)
            return -1;
        if (http_query_find(q, out)) {
            *wrong = "the query names a parameter twice";
            return -1;
        }
        q->pair[q->n].name = out;
        q->pair[q->n++].value = value;
        out = next;
        n += end != NULL;
        t.at += n;
        t.n -= n;
    }
    return 0;
}

const char *
http_query_find(const struct http_query *q, const char *name) {
    for (size_t i = 0; i < q->n; i++)
        if (!strcmp(q->pair[i].name, name))
            return q->pair[i].value;
    return NULL;
}

/* ---- chunked bodies ---- */

long
http_chunk_size(const char *p, size_t n, uint64_t *size) {
    size_t i = 0;
    *size = 0;
    for (; i < n && p[i] != '\r'; i++) {
        int digit = hex_digit(p[i]);
        if (digit < 0 || i == 8)
            return -1;
        *size = *size << 4 | (uint64_t)digit;
    }
    if (i == n)
        return 0;
    if (i == 0)
        return -1;
    if (i + 1 == n)
        return 0;
    return p[i + 1] == '\n' ? (long)i + 2 : -1;
}

enum { CHUNK_SIZE, CHUNK_DATA, CHUNK_END, CHUNK_LAST };

int
http_chunks_read(struct http_chunks *c, const char *p, size_t n, size_t most, size_t *used,
                 void (*add)(void *arg, const void *p, size_t n), void *arg) {
    *used = 0;
    while (*used < n) {
        const char *at = p + *used;
        size_t left = n - *used;
        if (c->state == CHUNK_SIZE) {
            long line = http_chunk_size(at, left, &c->left);
            if (line <= 0)
                return (int)line;
            *used += (size_t)line;
            if (c->left > most - c->total)
                return -2;
            c->total += (size_t)c->left;
            c->state = c->left ? CHUNK_DATA : CHUNK_LAST;
        } else if (c->state == CHUNK_DATA) {
            size_t some = left < c->left ? left : (size_t)c->left;
            add(arg, at, some);
            *used += some;
            c->left -= some;
            if (!c->left)
                c->state = CHUNK_END;
        } else {
            if (*at != '\r' || (left > 1 && at[1] != '\n'))
                return -1;
            if (left < 2)
                return 0;
            *used += 2;
            if (c->state == CHUNK_LAST)
                return 1;
            c->state = CHUNK_SIZE;
        }
    }
    return 0;
}
