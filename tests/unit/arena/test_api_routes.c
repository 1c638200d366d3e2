/* Every call of the server is in its OpenAPI document, with its parameters and who may call it;
 * and every operation of the document is a route. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "arena/api-int.h"
#include "base/file.h"

static const char *const methods[] = {"get", "head", "post", "delete"};

static int
load(void **state) {
    struct buf text = {0};
    struct err e;
    if (file_read("arena/openapi.json", 1 << 20, &text, &e) < 0)
        fail_msg("%s", e.text);
    *state = json_loadb((const char *)text.at, text.len, JSON_REJECT_DUPLICATES, NULL);
    buf_free(&text);
    return *state ? 0 : -1;
}

static int
unload(void **state) {
    json_decref(*state);
    return 0;
}

/* What "#/components/parameters/limit" names. */
static json_t *
resolve(json_t *doc, json_t *v) {
    const char *ref = json_string_value(json_object_get(v, "$ref"));
    if (!ref)
        return v;
    assert_true(!strncmp(ref, "#/", 2));
    char path[256];
    snprintf(path, sizeof path, "%s", ref + 2);
    for (char *p = strtok(path, "/"); p; p = strtok(NULL, "/"))
        doc = json_object_get(doc, p);
    if (!doc)
        fail_msg("%s leads nowhere", ref);
    return doc;
}

/* The names of the query's parameters in the document's order, as the route writes them. */
static void
write_params(json_t *doc, json_t *operation, char *out, size_t cap, size_t *in_path) {
    json_t *p;
    size_t i;
    out[0] = '\0';
    *in_path = 0;
    json_array_foreach(json_object_get(operation, "parameters"), i, p) {
        p = resolve(doc, p);
        const char *name = json_string_value(json_object_get(p, "name"));
        const char *in = json_string_value(json_object_get(p, "in"));
        if (!strcmp(in, "path")) {
            ++*in_path;
            continue;
        }
        size_t n = strlen(out);
        snprintf(out + n, cap - n, "%s%s", n ? " " : "", name);
    }
}

static void
test_routes_are_described(void **state) {
    json_t *paths = json_object_get(*state, "paths");
    const struct api_route *r;
    for (int i = 0; (r = api_route_at(i)); i++) {
        if (r->access == API_OPEN) /* files of a page, not calls */
            continue;
        json_t *o = json_object_get(json_object_get(paths, r->path), methods[r->method]);
        char params[256];
        size_t in_path;
        if (!o)
            fail_msg("%s %s is not in the document", methods[r->method], r->path);
        write_params(*state, o, params, sizeof params, &in_path);
        if (strcmp(params, r->params))
            fail_msg("%s has the parameters \"%s\", the document \"%s\"", r->path, r->params,
                     params);
        if (in_path != (strchr(r->path, '{') != NULL))
            fail_msg("%s: the document lacks the path's parameter", r->path);
        bool open = json_array_size(json_object_get(o, "security")) == 2;
        if (open != (r->access == API_READ))
            fail_msg("%s %s: the document errs in who may call it", methods[r->method], r->path);
        if ((json_object_get(o, "requestBody") != NULL) != (r->method == HTTP_POST) ||
            (r->body_most > 0) != (r->method == HTTP_POST))
            fail_msg("%s %s: a body is for POST", methods[r->method], r->path);
    }
    assert_true(api_route_at(-1) == NULL);
}

static void
test_operations_are_routes(void **state) {
    json_t *paths = json_object_get(*state, "paths"), *path, *operation;
    const char *name, *method;
    json_object_foreach(paths, name, path) {
        json_object_foreach(path, method, operation) {
            const struct api_route *r;
            bool found = false;
            for (int i = 0; (r = api_route_at(i)); i++)
                found |= !strcmp(r->path, name) && !strcmp(methods[r->method], method);
            if (!found)
                fail_msg("%s %s is no route", method, name);
        }
    }
}

static void
check_refs(json_t *doc, json_t *v) {
    const char *key;
    json_t *member;
    size_t i;
    if (json_is_object(v) && json_object_get(v, "$ref"))
        resolve(doc, v);
    json_object_foreach(v, key, member) {
        check_refs(doc, member);
    }
    json_array_foreach(v, i, member) {
        check_refs(doc, member);
    }
}

static void
test_references_lead_somewhere(void **state) {
    check_refs(*state, *state);
}

int
main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_routes_are_described),
                                       cmocka_unit_test(test_operations_are_routes),
                                       cmocka_unit_test(test_references_lead_somewhere)};
    return cmocka_run_group_tests(tests, load, unload);
}
