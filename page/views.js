// The table of views: what the address names, what the menu shows, and the key behind `g`.
import { Overview } from './views/overview.js';
import { Learning } from './views/learning.js';

export const views = [
  { name: 'overview', title: 'Overview', key: 'o', show: Overview, menu: true },
  { name: 'learning', title: 'Learning', key: 'c', show: Learning, menu: true },
];
