// Numbers and times for people.
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

export const isNumber = v => typeof v === 'number' && Number.isFinite(v);

// 1 234 567: exact, for counts.
export const count = v => (isNumber(v) ? whole.format(v).replaceAll(',', '\u202f') : '–');

// Three or four digits that matter.
export function number(v) {
  if (!isNumber(v)) return '–';
  const a = Math.abs(v);
  if (a === 0) return '0';
  if (a >= 1000) return count(v);
  if (a < 0.001) return v.toExponential(1).replace('e-', '·10⁻').replace(/⁻(\d+)$/, (_, d) => '⁻' + [...d].map(c => '⁰¹²³⁴⁵⁶⁷⁸⁹'[c]).join(''));
  const text = String(Number(v.toPrecision(3)));
  return text.replace('-', '−');
}

export const fixed = (v, n = 3) => (isNumber(v) ? v.toFixed(n).replace('-', '−') : '–');
export function signed(v, n = 2) {
  if (!isNumber(v)) return '–';
  const text = v.toFixed(n);
  if (Number(text) === 0) return text.replace('-', '');
  return v > 0 ? '+' + text : text.replace('-', '−');
}
export const percent = (v, n) => (isNumber(v) ? (100 * v).toFixed(n ?? (Math.abs(v) < 0.0995 ? 2 : 1)) + '\u00a0%' : '–');

export function bytes(v) {
  if (!isNumber(v)) return '–';
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  let i = 0;
  for (; v >= 1024 && i < units.length - 1; i++) v /= 1024;
  return (i && v < 100 ? v.toFixed(1) : whole.format(v)) + '\u00a0' + units[i];
}

export function duration(s) {
  if (!isNumber(s)) return '–';
  if (s < 0.001) return 'under 1\u00a0ms';
  if (s < 1) return Math.round(s * 1000) + '\u00a0ms';
  if (s < 90) return (s < 10 ? s.toFixed(1) : Math.round(s)) + '\u00a0s';
  if (s < 5400) return Math.round(s / 60) + '\u00a0min';
  if (s < 172800) return (s / 3600).toFixed(1) + '\u00a0h';
  return Math.round(s / 86400) + '\u00a0days';
}

export const ago = ms => (ms ? duration(Math.max(0, (Date.now() - ms) / 1000)) + ' ago' : '–');

// The API's times are UTC without saying so: "2026-12-01 03:31:06.123".
export const localTime = text => (text ? new Date(text.replace(' ', 'T') + 'Z').toLocaleString() : '–');
export const clock = ms => (ms ? new Date(ms).toLocaleTimeString() : '–');

// kuhn_poker(hands=1,side=0): parameters only where there is a second game of that name to tell apart.
export const gameName = spec => (spec ?? '').replace(/\(.*$/, '').replaceAll('_', ' ');

// What could reorder or hide text is made visible; everything is inserted as text anyway.
const odd = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
export const visible = text => (text ?? '').replace(odd, c => '\u2039U+' + c.codePointAt(0).toString(16).toUpperCase().padStart(4, '0') + '\u203a');
