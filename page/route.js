// Addresses: #/view/argument?name=value. Every state that is worth sharing stands in the address.
import { value } from './value.js';

function read() {
  const [path, search] = location.hash.replace(/^#\/?/, '').split('?');
  const [name, ...args] = path.split('/').map(part => {
    try {
      return decodeURIComponent(part);
    } catch { /* a stray percent sign */
      return part;
    }
  });
  return { name: name || 'overview', args: args.filter(a => a !== ''), query: Object.fromEntries(new URLSearchParams(search ?? '')) };
}

export const route = value(read());

export function startRoute() {
  addEventListener('hashchange', () => route.set(read()));
}

// link('matches', { kind: 'eval' }), link('match', 17)
export function link(name, ...rest) {
  const query = typeof rest[rest.length - 1] === 'object' ? rest.pop() : {};
  const given = Object.entries(query ?? {}).filter(([, v]) => v !== undefined && v !== null && v !== '');
  return '#/' + [name, ...rest].map(p => encodeURIComponent(String(p))).join('/') +
    (given.length ? '?' + new URLSearchParams(given) : '');
}

export function go(address, replace) {
  if (replace) {
    history.replaceState(null, '', address);
    route.set(read());
  } else {
    location.hash = address.slice(1);
  }
}
