// The table of views: what the address names, what the menu shows, and the key behind `g`.
import { Games } from './views/games.js';
import { Health } from './views/health.js';
import { Learning } from './views/learning.js';
import { LiveMatch } from './views/live.js';
import { OneMatch } from './views/match.js';
import { Matches } from './views/matches.js';
import { Overview } from './views/overview.js';
import { OnePolicy, Policies } from './views/policies.js';
import { Ratings } from './views/ratings.js';
import { Sql } from './views/sql.js';

// `under`: the entry of the menu that stands for a view without one.
export const views = [
  { name: 'overview', title: 'Overview', key: 'o', show: Overview, menu: true },
  { name: 'live', title: 'Live match', key: 'l', show: LiveMatch, menu: true },
  { name: 'matches', title: 'Matches', key: 'm', show: Matches, menu: true },
  { name: 'match', title: 'Match', show: OneMatch, under: 'matches' },
  { name: 'learning', title: 'Learning', key: 'e', show: Learning, menu: true },
  { name: 'policies', title: 'Policies', key: 'p', show: Policies, menu: true },
  { name: 'policy', title: 'Policy', show: OnePolicy, under: 'policies' },
  { name: 'ratings', title: 'Ratings', key: 'r', show: Ratings, menu: true },
  { name: 'games', title: 'Games', key: 'g', show: Games, menu: true },
  { name: 'sql', title: 'SQL', key: 's', show: Sql, menu: true },
  { name: 'health', title: 'Health', key: 'h', show: Health, menu: true },
];
