// Where somebody without the printed link brings in the token.
import { html, useState } from './html.js';
import { setToken } from './api.js';

export function TokenForm({ why }) {
  const [text, setText] = useState('');
  const send = e => {
    e.preventDefault();
    if (text.trim()) setToken(text.trim());
  };
  return html`<form class="token" onSubmit=${send}>
    <label>${why} Open the link that “agon train” or “agon serve” printed, or paste the token from the run's serve.json:
      <input type="password" autocomplete="off" value=${text} onInput=${e => setText(e.currentTarget.value)}/></label>
    <button>Use it</button>
  </form>`;
}
