// A value that can be watched: what several parts of the page share.
import { useEffect, useState } from './html.js';

export function value(now) {
  const watchers = new Set();
  return {
    get: () => now,
    set(next) {
      if (next === now) return;
      now = next;
      for (const f of [...watchers]) f(next);
    },
    watch(f) {
      watchers.add(f);
      return () => watchers.delete(f);
    },
  };
}

// The value's present state in a component, which is drawn anew when it changes.
export function useValue(v) {
  const [now, set] = useState(v.get());
  useEffect(() => {
    set(v.get());
    return v.watch(set);
  }, [v]);
  return now;
}
