// Elements are built node by node: what comes from the server is text and never markup.

/** Make an element: properties, then children (nodes or text). */
export function el(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "class") node.className = value;
    else if (name in node && !name.startsWith("aria")) node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

/** Write text into a node, if it says something else. */
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Set an attribute, if it is another. */
export function mark(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

/** Hand a number to the style sheet, if it is another. */
export function style(node, name, value) {
  const text = String(value);
  if (node.style.getPropertyValue(name) !== text) node.style.setProperty(name, text);
}

/** Let a list of nodes be the children of one, moving only those that are elsewhere. */
export function arrange(parent, nodes) {
  const wanted = new Set(nodes);
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
  const focused = document.activeElement;
  let next = parent.firstElementChild;
  for (const node of nodes) {
    if (node === next) next = next.nextElementSibling;
    else parent.insertBefore(node, next);
  }
  // A node that is moved loses the focus.
  if (focused !== document.activeElement && parent.contains(focused)) focused.focus();
}

/** A table from its caption, column heads and rows of texts. */
export function table(caption, heads, rows) {
  const cell = (text, i) =>
    i === 0 ? el("th", { scope: "row" }, text) : el("td", { class: "number" }, text);
  return el(
    "table",
    {},
    el("caption", { class: "unseen" }, caption),
    el("thead", {}, el("tr", {}, ...heads.map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map(cell)))),
  );
}
