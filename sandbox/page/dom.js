// Small helpers to make and update elements.

const SVG = 'http://www.w3.org/2000/svg';
const ATTRIBUTE = /^(data-|aria-|class$|role$|type$|title$|href$|colspan$|for$|id$)/;

export const byId = (id) => document.getElementById(id);

// make('button', { class: 'primary', onclick: act }, 'Run'): an element with its children.
export function make(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function draw(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (ATTRIBUTE.test(key) || element.namespaceURI === SVG) element.setAttribute(key, value);
    else element[key] = value;
  }
  element.append(...children);
  return element;
}

// Sets the text only if it differs, so that a screen reader and a selection are not disturbed.
export function say(element, text) {
  if (element.textContent !== String(text)) element.textContent = text;
}

// Keeps one child of `parent` for each item, in order. A child that stays is updated, not made
// anew: so the focus and open menus stay where they are.
export function keep(parent, items, keyOf, create, update) {
  const old = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  let before = null;
  for (const item of items) {
    const key = String(keyOf(item));
    const child = old.get(key) ?? create(item);
    child.dataset.key = key;
    old.delete(key);
    update(child, item);
    const place = before ? before.nextElementSibling : parent.firstElementChild;
    if (place !== child) parent.insertBefore(child, place);
    before = child;
  }
  for (const child of old.values()) child.remove();
}
