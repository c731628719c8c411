// Runs in a world of its own, which scripts of the page do not reach. Elements that were listed are kept in `memory`.
(request) => {
  const memory = (globalThis.listed ??= { elements: null });
  const MAX_NODES = 100000;
  const interactive = [
    'a[href]', 'button', 'input:not([type=hidden])', 'select', 'textarea', 'summary', 'area[href]',
    '[contenteditable=""]', '[contenteditable=true]', '[contenteditable=plaintext-only]', '[onclick]',
    ...['button', 'link', 'checkbox', 'radio', 'switch', 'tab', 'menuitem', 'option', 'combobox', 'textbox', 'searchbox',
      'slider', 'spinbutton', 'treeitem'].map((role) => `[role=${role}]`),
    '[tabindex]:not([tabindex^="-"])',
  ].join(',');
  const text = (value, length = 120) => {
    const words = String(value ?? '').slice(0, 4 * length).replace(/\s+/g, ' ').trim();
    return words.length > length ? words.slice(0, length - 1) + '…' : words;
  };
  // Custom elements may have names of any length.
  const tag = (element) => text(element.localName, 40);
  const frameDocument = (element) => {
    try { return element.contentDocument; } catch { return null; }
  };

  // All elements, also of open shadow trees and frames of the same origin.
  function* elements(root, budget) {
    const walker = (root.ownerDocument ?? root).createTreeWalker(root, NodeFilter.SHOW_ELEMENT);
    for (let element = walker.nextNode(); element; element = walker.nextNode()) {
      if (budget.left-- <= 0) return;
      yield element;
      if (element.shadowRoot) yield* elements(element.shadowRoot, budget);
      if (element.localName === 'iframe' || element.localName === 'frame') {
        const inner = frameDocument(element);
        if (inner?.documentElement) yield* elements(inner, budget);
      }
    }
  }

  const isVisible = (element) =>
    element.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true }) &&
    Array.from(element.getClientRects()).some((box) => box.width > 0 && box.height > 0);

  // Position of a frame in the window.
  const offset = (element) => {
    let [x, y] = [0, 0];
    let view = element.ownerDocument.defaultView;
    while (view && view.frameElement) {
      const frame = view.frameElement;
      const box = frame.getBoundingClientRect();
      x += box.left + frame.clientLeft;
      y += box.top + frame.clientTop;
      view = frame.ownerDocument.defaultView;
    }
    return { x, y };
  };

  const isEditable = (element) => element.isContentEditable;
  const textTypes = ['text', 'search', 'url', 'email', 'tel', 'password', 'number', 'date', 'datetime-local', 'month',
    'time', 'week', 'color', 'range'];
  const isField = (element) =>
    element.localName === 'textarea' || element.localName === 'select' || isEditable(element) ||
    (element.localName === 'input' && textTypes.includes(element.type));

  const label = (element) => {
    const root = element.getRootNode();
    const named = (element.getAttribute('aria-labelledby') ?? '').split(/\s+/).filter(Boolean)
      .map((id) => root.getElementById?.(id)?.textContent ?? '').join(' ');
    const ownText = (label) => {
      const copy = label.cloneNode(true);
      for (const field of copy.querySelectorAll('select, textarea, button, script, style')) field.remove();
      return copy.textContent;
    };
    const labels = Array.from(element.labels ?? []).map(ownText).join(' ');
    const isButton = element.localName === 'input' && ['submit', 'button', 'reset'].includes(element.type);
    const own = ['input', 'select', 'textarea'].includes(element.localName) ? '' : element.innerText;
    const candidates = [element.getAttribute('aria-label'), named, isButton ? element.value : '', labels, own,
      element.getAttribute('placeholder'), element.getAttribute('title'), element.getAttribute('alt'),
      element.querySelector?.('img[alt]')?.alt, element.getAttribute('name')];
    for (const candidate of candidates) {
      const found = text(candidate);
      if (found) return found;
    }
    return '';
  };

  const value = (element) => {
    if (element.localName === 'select') {
      return text(Array.from(element.selectedOptions).map((option) => option.label).join(', '));
    }
    if (element.type === 'password') return element.value ? '(hidden)' : '';
    if (isField(element)) return text(isEditable(element) ? element.innerText : element.value);
    return undefined;
  };

  const describe = (element, index) => {
    const properties = { index, tag: tag(element), text: label(element) };
    const role = element.getAttribute('role');
    if (role) properties.role = text(role, 40);
    if (element.localName === 'input') properties.type = element.type;
    if (element.localName === 'a') properties.href = text(element.href, 300);
    const current = value(element);
    if (current) properties.value = current;
    if (['checkbox', 'radio'].includes(element.type)) properties.checked = element.checked;
    if (element.localName === 'select') {
      properties.options = Array.from(element.options).slice(0, 30).map((option) => text(option.label, 60));
    }
    if (element.matches(':disabled') || element.getAttribute('aria-disabled') === 'true') properties.disabled = true;
    return properties;
  };

  const page = () => {
    const root = document.scrollingElement ?? document.documentElement;
    const entry = performance.getEntriesByType('navigation')[0];
    return {
      url: text(location.href, 2000),
      title: text(document.title, 300),
      status: entry?.responseStatus || undefined,
      scroll_top: Math.round(root?.scrollTop ?? 0),
      height: root?.scrollHeight ?? 0,
      visible_height: innerHeight,
    };
  };

  const list = () => {
    const budget = { left: MAX_NODES };
    const found = [];
    for (const element of elements(document, budget)) {
      if (element.matches(interactive) && isVisible(element)) found.push(element);
    }
    const isNear = (element) => {
      const box = element.getBoundingClientRect();
      const top = box.top + offset(element).y;
      return top + box.height > 0 && top < 2 * innerHeight;
    };
    let shown = found;
    if (found.length > request.limit) shown = found.filter(isNear).slice(0, request.limit);
    memory.elements = shown.map((element) => new WeakRef(element));
    return { ...page(), elements: shown.map(describe), total: found.length, is_cut: budget.left <= 0 };
  };

  const get = () => {
    if (!memory.elements) return { error: 'stale' };
    if (request.index >= memory.elements.length) return { error: 'unknown', count: memory.elements.length };
    const element = memory.elements[request.index].deref();
    if (!element?.isConnected || !isVisible(element)) return { error: 'stale' };
    return { element };
  };

  // Where to click on an element.
  const locate = () => {
    const { element, ...failure } = get();
    if (!element) return failure;
    if (element.matches(':disabled')) return { error: 'disabled' };
    if (element.type === 'file') return { error: 'file' };
    element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    const properties = describe(element, request.index);
    const { x, y } = offset(element);
    let cover = null;
    for (const box of element.getClientRects()) {
      if (box.width <= 0 || box.height <= 0) continue;
      const [left, top] = [box.left + box.width / 2, box.top + box.height / 2];
      const hit = element.getRootNode().elementFromPoint(left, top);
      const isHit = hit && (element.contains(hit) || hit.contains(element) || element.shadowRoot?.contains(hit) ||
        Array.from(element.labels ?? []).some((label) => label.contains(hit)));
      if (isHit) return { x: left + x, y: top + y, element: properties };
      cover ??= hit;
    }
    if (!cover) return { error: 'outside' };
    return { error: 'covered', by: `${tag(cover)} "${text(cover.innerText, 60)}"` };
  };

  const link = () => {
    const { element, ...failure } = get();
    if (!element) return failure;
    return { href: element.closest('a[href]')?.href ?? null };
  };

  const choose = (element) => {
    const wanted = request.text.trim();
    const options = Array.from(element.options);
    const option = options.find((option) => option.label.trim() === wanted || option.value === wanted) ??
      options.find((option) => option.label.trim().toLowerCase() === wanted.toLowerCase());
    if (!option) return { error: 'option', options: options.slice(0, 50).map((option) => text(option.label, 60)) };
    if (element.multiple) option.selected = true; else element.value = option.value;
    return null;
  };

  const changed = (element) => {
    for (const kind of ['input', 'change']) element.dispatchEvent(new Event(kind, { bubbles: true, composed: true }));
  };

  // Prepares an element for a text that replaces its own, or sets the text where keys have another effect.
  const focus = () => {
    const { element, ...failure } = get();
    if (!element) return failure;
    if (element.matches(':disabled') || element.readOnly) return { error: 'disabled' };
    if (!isField(element)) return { error: 'field', tag: tag(element), type: element.type };
    element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    element.focus();
    if (element.localName === 'select') {
      const failure = choose(element);
      if (failure) return failure;
      changed(element);
      return { done: true };
    }
    if (['date', 'datetime-local', 'month', 'time', 'week', 'color', 'range'].includes(element.type)) {
      element.value = request.text;
      changed(element);
      return { done: true };
    }
    if (isEditable(element)) element.ownerDocument.getSelection().selectAllChildren(element); else element.select();
    return { done: false, tag: element.localName };
  };

  const read = () => {
    const { element } = get();
    return { value: element ? value(element) ?? '' : null };
  };

  const scroll = () => {
    const distance = Math.round(innerHeight * 0.8) * (request.direction === 'up' ? -1 : 1);
    const root = document.scrollingElement ?? document.documentElement;
    const before = root.scrollTop;
    root.scrollBy({ top: distance, behavior: 'instant' });
    let moved = root.scrollTop !== before;
    if (!moved) {
      // Pages whose main part scrolls instead of the window.
      let element = document.elementFromPoint(innerWidth / 2, innerHeight / 2);
      for (; element && !moved; element = element.parentElement) {
        const top = element.scrollTop;
        element.scrollBy({ top: distance, behavior: 'instant' });
        moved = element.scrollTop !== top;
      }
    }
    return { ...page(), moved };
  };

  const source = () => {
    const html = document.documentElement?.outerHTML ?? '';
    return { ...page(), html: html.slice(0, request.limit), is_cut: html.length > request.limit };
  };

  const storage = () => {
    const items = [];
    try {
      let size = 0;
      for (const name of Object.keys(localStorage)) {
        const value = localStorage.getItem(name);
        size += name.length + value.length;
        if (size > request.limit) return { origin: location.origin, items, is_cut: true };
        items.push({ name, value });
      }
    } catch { /* Pages without an origin have no storage. */ }
    return { origin: location.origin, items, is_cut: false };
  };

  const store = () => {
    try {
      for (const { name, value } of request.items) localStorage.setItem(name, value);
    } catch (error) { return { error: String(error) }; }
    return {};
  };

  // Lets tasks of the page run that an action has caused.
  const pause = () => new Promise((resolve) => setTimeout(() => setTimeout(resolve, 20), 20));

  const actions = { page, pause, list, locate, link, focus, read, scroll, source, storage, store };
  return actions[request.action]();
}
