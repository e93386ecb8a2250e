/**
 * Keeps an open page fresh: it hears of news, fetches the page again and replaces the parts that differ, so
 * that focus, selection and what is unfolded stay. Without it the page reloads itself.
 */
export const SCRIPT = `(() => {
  'use strict';
  const OLD = 60, POLL = 20;
  const age = document.getElementById('age');
  let news = Date.now() - 1000 * Number(document.body.dataset.age || 0), heard = Date.now();
  let size = document.body.dataset.size, busy = false, due = false;
  const paint = () => {
    const seconds = Math.max(0, Math.round((Date.now() - news) / 1000));
    document.body.className = seconds > OLD ? 'old' : 'fresh';
    if (age) age.textContent = seconds > OLD ? ' (no news for ' + seconds + ' s)' : ' (' + seconds + ' s ago)';
  };
  const put = (next) => {
    for (const part of next.querySelectorAll('[data-part]')) {
      const here = document.querySelector('[data-part="' + part.dataset.part + '"]');
      if (!here || here.innerHTML === part.innerHTML) continue;
      const chosen = getSelection();
      if (chosen && !chosen.isCollapsed && here.contains(chosen.anchorNode)) continue;
      for (const one of here.querySelectorAll('details[open][id]')) {
        const same = part.querySelector('[id="' + one.id + '"]');
        if (same) same.open = true;
      }
      const on = here.contains(document.activeElement) ? document.activeElement : null;
      const all = on ? [...here.querySelectorAll(on.localName)] : [];
      here.replaceChildren(...document.importNode(part, true).childNodes);
      if (on) {
        const found = [...here.querySelectorAll(on.localName)];
        const same = found.find((one) => (one.id || one.getAttribute('href')) === (on.id || on.getAttribute('href')));
        (same || found[all.indexOf(on)])?.focus({ preventScroll: true });
      }
    }
    const [line, said] = [document, next].map((one) => one.getElementById('headline'));
    if (line && said && line.textContent !== said.textContent) {
      line.textContent = said.textContent;
      line.className = said.className;
    }
    document.title = next.title;
    size = next.body.dataset.size;
    news = Date.now() - 1000 * Number(next.body.dataset.age || 0);
  };
  const update = async () => {
    if (busy) { due = true; return; }
    busy = true;
    due = false;
    try {
      const answer = await fetch(location.href, { cache: 'no-store', signal: AbortSignal.timeout(10000) });
      if (answer.ok) put(new DOMParser().parseFromString(await answer.text(), 'text/html'));
    } catch {}
    busy = false;
    paint();
    if (due) setTimeout(update, 1000);
  };
  const soon = () => setTimeout(update, Math.random() * 1000);
  let source;
  const listen = () => {
    source = new EventSource('/events');
    source.onmessage = ({ data }) => { heard = Date.now(); if (data !== size) soon(); };
    source.addEventListener('beat', () => { heard = Date.now(); soon(); });
  };
  listen();
  setInterval(paint, 1000);
  setInterval(() => {
    if (POLL * 1000 > Date.now() - heard) return;
    soon();
    if (source.readyState === EventSource.CLOSED) listen();
  }, POLL * 1000);
  paint();
})();`.replaceAll(/\n\s+/gu, '\n');
