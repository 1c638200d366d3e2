// Light, dark, or as the system has it.
import { value } from './value.js';

export const THEMES = ['auto', 'light', 'dark'];

function stored() {
  try {
    return localStorage.getItem('theme');
  } catch { /* storage is forbidden */
    return null;
  }
}

const system = matchMedia('(prefers-color-scheme: dark)');
export const chosen = value(THEMES.includes(stored()) ? stored() : 'auto');
export const theme = value(''); // what is shown: 'light' or 'dark'

function apply() {
  const shown = chosen.get() === 'auto' ? (system.matches ? 'dark' : 'light') : chosen.get();
  document.documentElement.dataset.theme = shown;
  theme.set(shown);
}

export function startTheme() {
  apply();
  system.addEventListener('change', apply);
}

export function nextTheme() {
  chosen.set(THEMES[(THEMES.indexOf(chosen.get()) + 1) % THEMES.length]);
  try {
    localStorage.setItem('theme', chosen.get());
  } catch { /* it lasts until the page is loaded again */ }
  apply();
}
