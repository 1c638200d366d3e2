// The one wrapper of uPlot: lines over steps or over time, with colours and dashes that can be told
// apart, a legend that says the values, the keyboard (left, right, Enter), and the numbers as a table.
import { html, useEffect, useRef, useState } from './html.js';
import uPlot from './vendor/uplot.js';
import { dark, lines } from './colour.js';
import { clock, count, isNumber, number } from './format.js';
import { Scroll } from './ui.js';
import { theme } from './theme.js';
import { useValue } from './value.js';

const HEIGHT = 210;
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function options(p, width, onPick) {
  const grid = { stroke: css('--line'), width: 1 }, style = lines();
  const axis = { stroke: css('--muted'), grid, ticks: grid, font: '12px system-ui, sans-serif' };
  const x = p.time ? v => clock(v * 1000) : v => count(v);
  return {
    width, height: p.height ?? HEIGHT,
    padding: [10, 14, 0, 0],
    cursor: { points: { size: 7 }, drag: { x: true, y: false }, focus: { prox: 24 } },
    scales: { x: { time: Boolean(p.time) }, y: p.log ? { distr: 3 } : { range: range(p) } },
    axes: [
      { ...axis, size: 34, space: p.time ? 80 : 55, values: (u, list) => list.map(v => (Number.isInteger(v) ? x(v) : '')) },
      { ...axis, size: 58, values: (u, list) => list.map(v => (v === null ? '' : p.format ? p.format(v) : number(v))) },
    ],
    series: [
      { label: p.time ? 'time' : 'step', value: (u, v) => (v === null ? '–' : x(v)) },
      ...p.series.map((s, i) => ({
        label: s.name, scale: 'y', width: 2, spanGaps: true,
        ...style[s.style ?? i],
        points: { show: Boolean(s.points), size: 5, fill: style[s.style ?? i].stroke },
        // Where a line has no point of its own, the one before counts.
        value: (u, v, line, at) => (p.format ?? number)(v ?? (at === null || at === undefined ? null : u.data[line].slice(0, at + 1).findLast(isNumber))),
      })),
    ],
    hooks: {
      ready: [u => u.over.addEventListener('click', () => onPick(u))],
      // With no pointer on the chart the legend says the newest values.
      setCursor: [newest],
      setData: [newest],
    },
  };
}

function newest(u) {
  if (u.cursor.idx === null || u.cursor.idx === undefined) u.setLegend({ idx: u.data[0].length - 1 }, false);
}

// Zero belongs to the picture where it means something.
const range = p => (u, low, high) => {
  if (!isNumber(low)) return [0, 1];
  if (p.zero) {
    low = Math.min(low, 0);
    high = Math.max(high, 0);
  }
  const room = (high - low || Math.abs(high) || 1) * 0.06;
  return [p.zero && low === 0 ? 0 : low - room, high + room];
};

function Numbers({ x, series, time, format, name }) {
  const at = x.map((_, i) => i).slice(-12).reverse();
  return html`<${Scroll} label=${name + ', numbers'}><table class="numbers">
    <thead><tr><th>${time ? 'time' : 'step'}</th>${series.map(s => html`<th>${s.name}</th>`)}</tr></thead>
    <tbody>${at.map(i => html`<tr><th>${time ? clock(x[i] * 1000) : count(x[i])}</th>${
      series.map(s => html`<td>${isNumber(s.values[i]) ? (format ?? number)(s.values[i]) : '–'}</td>`)}</tr>`)}</tbody>
  </table><//>`;
}

// x: [n]; series: [{ name, values: [n] with null, points, style }]; zero: keep 0 in view; pick(x): a
// click or Enter on a point.
export function Chart(p) {
  const box = useRef(null), plot = useRef(null), now = useRef(p);
  const [open, setOpen] = useState(false);
  const look = useValue(theme);
  now.current = p;
  const pickAt = u => {
    const i = u.cursor.idx;
    if (i !== null && i !== undefined && now.current.pick) now.current.pick(now.current.x[i]);
  };
  // A logarithmic scale has no place for what is not above 0.
  const data = () => [now.current.x, ...now.current.series.map(s => (now.current.log ? s.values.map(v => (v > 0 ? v : null)) : s.values))];
  const shape = p.series.map(s => s.name + s.style).join('|') + p.log + look + dark();

  useEffect(() => {
    const u = new uPlot(options(now.current, Math.max(200, box.current.clientWidth), pickAt), data(), box.current);
    plot.current = u;
    const resized = new ResizeObserver(() => {
      const width = box.current?.clientWidth;
      if (width && width !== u.width) u.setSize({ width, height: now.current.height ?? HEIGHT });
    });
    resized.observe(box.current);
    return () => {
      resized.disconnect();
      u.destroy();
      plot.current = null;
    };
  }, [shape]);

  useEffect(() => plot.current?.setData(data()), [p.x, p.series]);

  const keys = e => {
    const u = plot.current, step = { ArrowLeft: -1, ArrowRight: 1, Home: -1e9, End: 1e9 }[e.key];
    if (e.key === 'Enter') pickAt(u);
    if (!step || !p.x.length) return;
    e.preventDefault();
    const from = u.cursor.idx ?? p.x.length - 1;
    const to = Math.min(p.x.length - 1, Math.max(0, from + step));
    u.setCursor({ left: u.valToPos(p.x[to], 'x'), top: u.over.clientHeight / 2 });
  };
  const last = p.series.map(s => s.name + ' ' + (p.format ?? number)(s.values.findLast(isNumber))).join(', ');
  return html`
    <div class=${'plot' + (p.pick ? ' picks' : '')} ref=${box} tabindex="0" role="img" onKeyDown=${keys}
      aria-label=${`${p.name}. Newest: ${last}. Left and right arrows move along${p.pick ? ', Enter opens the step' : ''}.`}></div>
    <details class="as-table" onToggle=${e => setOpen(e.currentTarget.open)}>
      <summary>As numbers</summary>
      ${open && html`<${Numbers} ...${p}/>`}
    </details>`;
}
