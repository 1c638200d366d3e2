/* Charts as SVG. Coordinates are in a box of WIDE x HIGH, scaled by the page. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "cli/html.h"

enum {
    WIDE = 720,
    HIGH = 260,
    LEFT = 56,
    RIGHT = 12,
    TOP = 28,
    BOTTOM = 36,
    TICKS = 5,
    LETTER = 6,
    FEW = 8
};

struct range {
    double least, most;
};

struct plane {
    FILE *out;
    struct range x, y;
};

static void
include(struct range *r, double v) {
    if (!isfinite(v))
        return;
    if (v < r->least)
        r->least = v;
    if (v > r->most)
        r->most = v;
}

static double
at_x(const struct plane *p, double x) {
    return LEFT + (x - p->x.least) / (p->x.most - p->x.least) * (WIDE - LEFT - RIGHT);
}

static double
at_y(const struct plane *p, double y) {
    return HIGH - BOTTOM - (y - p->y.least) / (p->y.most - p->y.least) * (HIGH - TOP - BOTTOM);
}

/* The distance of the axis's marks: 1, 2 or 5 times a power of ten. */
static double
tick_step(const struct range *r) {
    double raw = (r->most - r->least) / TICKS, power = pow(10, floor(log10(raw)));
    double m = raw / power;
    return power * (m > 5 ? 10 : m > 2 ? 5 : m > 1 ? 2 : 1);
}

/* A range with room around it, never empty. */
static void
widen(struct range *r) {
    if (!(r->most > r->least)) {
        double room = fabs(r->most) > 0 ? fabs(r->most) / 2 : 1;
        r->least -= room;
        r->most += room;
    }
}

static void
draw_axes(const struct plane *p, const char *x_name) {
    double step = tick_step(&p->y);
    int digits = step < 1 ? (int)ceil(-log10(step) - 1e-9) : 0;
    for (double v = ceil(p->y.least / step) * step; v <= p->y.most + step / 1e6; v += step)
        fprintf(p->out,
                "<line class=\"axis\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>"
                "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.*f</text>\n",
                LEFT, WIDE - RIGHT, at_y(p, v), at_y(p, v), LEFT - 6, at_y(p, v) + 4,
                digits < 12 ? digits : 12, fabs(v) < step / 1e6 ? 0.0 : v);
    step = tick_step(&p->x);
    for (double v = ceil(p->x.least / step) * step; v <= p->x.most + step / 1e6; v += step)
        fprintf(p->out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.6g</text>\n",
                at_x(p, v), HIGH - BOTTOM + 16, fabs(v) < step / 1e6 ? 0.0 : v);
    fprintf(p->out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", (LEFT + WIDE - RIGHT) / 2,
            HIGH - 4);
    html_text(p->out, x_name);
    fputs("</text>\n", p->out);
}

static void
draw_line(const struct plane *p, const struct html_series *s, size_t place) {
    bool on = false;
    fprintf(p->out, "<path class=\"line s%zu\" d=\"", place);
    for (size_t i = 0; i < s->n; i++) {
        bool there = isfinite(s->x[i]) && isfinite(s->y[i]);
        if (there) /* "l0 0": a point without neighbours is a dot */
            fprintf(p->out, on ? "L%.1f %.1f" : "M%.1f %.1fl0 0", at_x(p, s->x[i]),
                    at_y(p, s->y[i]));
        on = there;
    }
    fputs("\"/>\n", p->out);
    for (size_t i = 0; i < s->n && s->n <= FEW; i++)
        if (isfinite(s->y[i]))
            fprintf(p->out, "<circle class=\"line s%zu\" cx=\"%.1f\" cy=\"%.1f\" r=\"2\"/>\n",
                    place, at_x(p, s->x[i]), at_y(p, s->y[i]));
}

/* Above the lines, side by side. */
static void
draw_legend(FILE *out, const struct html_series *series, size_t n) {
    int x = LEFT;
    for (size_t i = 0; i < n; i++) {
        if (!series[i].n)
            continue;
        fprintf(out,
                "<line class=\"line s%zu\" x1=\"%d\" x2=\"%d\" y1=\"10\" y2=\"10\"/>"
                "<text x=\"%d\" y=\"14\">",
                i, x, x + 18, x + 24);
        html_text(out, series[i].name);
        fputs("</text>\n", out);
        x += 44 + LETTER * (int)strlen(series[i].name);
    }
}

static void
begin_figure(FILE *out, const char *title, int high) {
    fprintf(out, "<figure><svg viewBox=\"0 0 %d %d\" role=\"img\"><title>", WIDE, high);
    html_text(out, title);
    fputs("</title>\n", out);
}

static void
end_figure(FILE *out, const char *title) {
    fputs("</svg><figcaption>", out);
    html_text(out, title);
    fputs("</figcaption></figure>\n", out);
}

void
html_chart(FILE *out, const char *title, const char *x_name, const struct html_series *series,
           size_t n) {
    struct plane p = {out, {INFINITY, -INFINITY}, {INFINITY, -INFINITY}};
    if (n > HTML_SERIES)
        n = HTML_SERIES;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < series[i].n; k++)
            if (isfinite(series[i].y[k])) {
                include(&p.x, series[i].x[k]);
                include(&p.y, series[i].y[k]);
            }
    if (p.x.most < p.x.least || p.y.most < p.y.least)
        return;
    if (p.y.least > 0) /* so that heights can be compared */
        p.y.least = 0;
    widen(&p.x);
    widen(&p.y);
    begin_figure(out, title, HIGH);
    draw_axes(&p, x_name);
    for (size_t i = 0; i < n; i++)
        draw_line(&p, &series[i], i);
    draw_legend(out, series, n);
    end_figure(out, title);
}

void
html_bars(FILE *out, const char *title, const char *const *label, const double *value, size_t n) {
    enum { TALL = 90, BASE = 66, MOST = 64 };
    if (n > MOST)
        n = MOST;
    if (!n)
        return;
    double step = (double)(WIDE - LEFT - RIGHT) / (double)(n < 16 ? 16 : n);
    begin_figure(out, title, TALL);
    for (size_t i = 0; i < n; i++) {
        double v = isfinite(value[i]) ? fmin(fmax(value[i], 0), 1) : 0, x = LEFT + step * (double)i;
        fprintf(out,
                "<rect class=\"bar\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"><title>"
                "%.4g</title></rect><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">",
                x, BASE - 56 * v, step * 0.8, 56 * v + 0.5, value[i], x + step * 0.4, BASE + 14);
        html_text(out, label[i]);
        fputs("</text>\n", out);
    }
    fprintf(out,
            "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">1</text>"
            "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">0</text>\n",
            LEFT - 6, BASE - 52, LEFT - 6, BASE);
    end_figure(out, title);
}
