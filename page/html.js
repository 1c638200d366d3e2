// What the page is made with: preact, its hooks, and htm, which writes elements as templates without a
// build step. Text in a template becomes text nodes; nothing here can turn text into markup.
import htm from './vendor/htm.js';
import { h } from './vendor/preact.js';

export { render } from './vendor/preact.js';
export { useCallback, useEffect, useErrorBoundary, useLayoutEffect, useMemo, useRef, useState } from './vendor/preact-hooks.js';
export const html = htm.bind(h);
