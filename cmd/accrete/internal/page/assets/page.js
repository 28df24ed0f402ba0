'use strict';
// Keeps the sections of the page up to date from the stream of events. The server has
// escaped their content. Elements that stay keep their focus, scroll position and state.
(() => {
  const connection = document.getElementById('connection');
  const pause = document.getElementById('pause');
  const policy = window.trustedTypes ? trustedTypes.createPolicy('accrete', { createHTML: (s) => s }) : { createHTML: (s) => s };
  let source = null, paused = false, waiting = {};

  const state = (text, kind) => { connection.textContent = text; connection.className = kind; };

  // Makes the children of old those of now, and changes only what differs.
  const morph = (old, now) => {
    const a = [...old.childNodes], b = [...now.childNodes];
    b.forEach((n, i) => {
      const o = a[i];
      if (!o) { old.append(n); return; }
      if (o.nodeType !== n.nodeType || o.nodeName !== n.nodeName) { o.replaceWith(n); return; }
      if (o.nodeType !== Node.ELEMENT_NODE) { if (o.data !== n.data) o.data = n.data; return; }
      for (const { name, value } of n.attributes) if (o.getAttribute(name) !== value) o.setAttribute(name, value);
      for (const { name } of [...o.attributes]) if (!n.hasAttribute(name) && name !== 'open') o.removeAttribute(name);
      morph(o, n);
    });
    a.slice(b.length).forEach((n) => n.remove());
  };

  const show = (sections) => {
    for (const [name, html] of Object.entries(sections)) {
      const section = document.getElementById('s-' + name);
      const template = document.createElement('template');
      template.innerHTML = policy.createHTML(html);
      if (section) morph(section, template.content);
    }
  };

  const connect = () => {
    source = new EventSource('events');
    source.onopen = () => { if (!paused) state('live', 'on'); };
    source.onerror = () => {
      state('disconnected', 'off');
      if (source.readyState === EventSource.CLOSED) setTimeout(connect, 3000);
    };
    source.addEventListener('boot', (e) => { if (e.data !== document.body.dataset.boot) location.reload(); });
    source.addEventListener('update', (e) => {
      const sections = JSON.parse(e.data);
      if (paused) Object.assign(waiting, sections); else show(sections);
    });
  };

  pause.hidden = false;
  pause.addEventListener('click', () => {
    paused = !paused;
    pause.setAttribute('aria-pressed', String(paused));
    if (paused) { state('paused', ''); return; }
    show(waiting);
    waiting = {};
    state(source.readyState === EventSource.OPEN ? 'live' : 'disconnected', source.readyState === EventSource.OPEN ? 'on' : 'off');
  });
  window.addEventListener('pagehide', () => source.close());
  window.addEventListener('pageshow', (e) => { if (e.persisted) connect(); });
  connect();
})();
