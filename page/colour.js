// Colour scales that colour-blind people can tell apart, and that are never alone: numbers, shapes or
// dashes say the same.
const VIRIDIS = ['#440154', '#482878', '#3e4a89', '#31688e', '#26838f', '#1f9d8a', '#6cce5a', '#b6de2b', '#fee825'];
const BLUE_ORANGE = ['#1f5fbf', '#5c8fd6', '#a3c1ea', '#f3f1ee', '#f5c08a', '#e68a35', '#b85a0a']; // -1 ... 1

function hex(c) {
  return [1, 3, 5].map(i => parseInt(c.slice(i, i + 2), 16));
}

function at(scale, t) {
  const x = Math.min(1, Math.max(0, t)) * (scale.length - 1), i = Math.min(scale.length - 2, Math.floor(x));
  const a = hex(scale[i]), b = hex(scale[i + 1]);
  return a.map((v, k) => Math.round(v + (b[k] - v) * (x - i)));
}

// The colour and the ink that can be read on it.
function pair(rgb) {
  const light = rgb.map(v => v / 255).map(v => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  const l = 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2];
  return { background: `rgb(${rgb.join(' ')})`, color: l > 0.18 ? '#101418' : '#ffffff' };
}

export const viridis = t => pair(at(VIRIDIS, t));
export const blueOrange = t => pair(at(BLUE_ORANGE, (t + 1) / 2)); // t in [-1, 1]

export const dark = () => {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
};

// Lines of charts: colours of Okabe and Ito, as light as the ground needs, each with dashes of its own.
export function lines() {
  const list = dark()
    ? ['#6aa5ff', '#ffa657', '#3fcf9f', '#e39bd3', '#e8dc5a', '#9fb3c8']
    : ['#1f6feb', '#c4570a', '#00805d', '#a8488f', '#857500', '#52616f'];
  const dashes = [[], [6, 4], [2, 3], [10, 3, 2, 3], [], [4, 2]];
  return list.map((stroke, i) => ({ stroke, dash: dashes[i] }));
}
