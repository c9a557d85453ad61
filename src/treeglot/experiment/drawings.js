'use strict';
// Drawings of derivations, dependency trees and packed forests, and the making of elements.
const SVG = 'http://www.w3.org/2000/svg';

function make(tag, attributes = {}, ...content) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value);
  }
  element.append(...content);
  return element;
}
function draw(tag, attributes = {}, ...content) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...content);
  return element;
}
const label = (x, y, text, anchor = 'start', style = '') =>
  draw('text', {x, y, 'text-anchor': anchor, class: style}, String(text));
// About how many pixels a text takes: Chinese characters are about twice as wide as Latin letters.
const wide = text => [...text].reduce((sum, c) => sum + (c > '\u2e7f' ? 13 : 7), 0);

// A derivation from its steps in preorder: [label, source, target, begin, end, children].
function tree(steps) {
  let at = 0;
  const take = () => {
    const [name, source, target, begin, end, children] = steps[at++];
    return {name, source, target, begin, end, children: Array.from({length: children}, take)};
  };
  return steps.length ? take() : null;
}

function derivation(steps) {
  const root = tree(steps);
  if (!root) return make('p', {}, 'There is no derivation.');
  const holder = make('div', {class: 'drawing'});
  const lines = node => [`${node.name} [${node.begin}, ${node.end})`, node.source, node.target];
  function measure(node) {
    node.own = Math.max(...lines(node).map(wide)) + 20;
    const below = node.closed ? [] : node.children;
    below.forEach(measure);
    node.width = Math.max(node.own, below.reduce((sum, child) => sum + child.width + 14, -14));
    node.depth = 1 + Math.max(0, ...below.map(child => child.depth));
  }
  function place(node, left, level, svg) {
    const x = left + node.width / 2, y = level * 92 + 8;
    const below = node.closed ? [] : node.children;
    let from = left + (node.width - below.reduce((sum, child) => sum + child.width + 14, -14)) / 2;
    for (const child of below) {
      const to = from + child.width / 2;
      svg.append(draw('path', {d: `M${x},${y + 60} C${x},${y + 78} ${to},${y + 72} ${to},${y + 92}`}));
      place(child, from, level + 1, svg);
      from += child.width + 14;
    }
    const group = draw('g', {class: node.closed ? 'node closed' : 'node', tabindex: 0});
    group.append(draw('rect', {x: x - node.own / 2, y, width: node.own, height: 60, rx: 6}));
    const [head, source, target] = lines(node);
    group.append(label(x, y + 17, head, 'middle', 'faint'), label(x, y + 35, source, 'middle'), label(x, y + 52, target, 'middle'));
    if (node.children.length) {
      group.append(draw('title', {}, 'Click to fold what is below'));
      group.addEventListener('click', () => { node.closed = !node.closed; render(); });
    }
    svg.append(group);
  }
  function render() {
    measure(root);
    const svg = draw('svg', {width: root.width + 16, height: root.depth * 92 - 16, role: 'img', 'aria-label': 'derivation'});
    place(root, 8, 0, svg);
    holder.replaceChildren(svg);
  }
  render();
  return holder;
}

function dependencies(words, heads, tags) {
  const at = [];
  let x = 20;
  for (const [i, word] of words.entries()) {
    const size = Math.max(wide(word), wide(tags[i] || '')) + 22;
    at.push(x + size / 2);
    x += size;
  }
  const span = heads.reduce((most, head, i) => Math.max(most, head < 0 ? 0 : Math.abs(head - i)), 1);
  const base = 30 + Math.min(span, 12) * 14;
  const svg = draw('svg', {width: x + 20, height: base + 50, role: 'img', 'aria-label': 'dependency tree'});
  heads.forEach((head, i) => {
    if (head < 0) {
      svg.append(draw('path', {d: `M${at[i]},${base} V8`}), label(at[i] + 4, 16, 'root', 'start', 'faint'));
      return;
    }
    const y = base - 12 - 14 * Math.min(Math.abs(head - i), 12);
    svg.append(draw('path', {d: `M${at[head]},${base} C${at[head]},${y} ${at[i]},${y} ${at[i]},${base - 5} l-3,-5 m3,5 l3,-5`}));
  });
  words.forEach((word, i) => svg.append(label(at[i], base + 18, word, 'middle'), label(at[i], base + 36, tags[i] || '', 'middle', 'faint')));
  return make('div', {class: 'drawing'}, svg);
}

// Places as near to the wished ones (least squares) as leaves each its width; the order is kept.
function spread(wished, widths) {
  const offsets = [], pools = [];
  let room = 0;
  widths.forEach((width, i) => { room += i ? (widths[i - 1] + width) / 2 : 0; offsets.push(room); });
  wished.forEach((wish, i) => {
    let pool = {sum: wish - offsets[i], count: 1};
    while (pools.length && pools.at(-1).sum / pools.at(-1).count > pool.sum / pool.count) {
      const before = pools.pop();
      pool = {sum: pool.sum + before.sum, count: pool.count + before.count};
    }
    pools.push(pool);
  });
  return pools.flatMap(pool => Array(pool.count).fill(pool.sum / pool.count)).map((mean, i) => mean + offsets[i]);
}

// A packed forest: nodes as [label, begin, end] above the words, edges as [head, tails ...]. One tree of its goal is strong: first that of
// the `used` edges. A click on a node that can be built in several ways takes the next one.
function forest({words, nodes, edges, goal, trees, size}, used) {
  const many = trees === 1 ? 'one tree' : `${trees < 1e15 ? trees.toLocaleString('en') : trees.toPrecision(2)} trees`;
  if (size) return make('p', {}, `The forest has ${many} and ${size.toLocaleString('en')} edges: it is not drawn.`);
  const n = words.length, count = n + nodes.length;
  const text = node => node < n ? words[node] : nodes[node - n][0];
  const into = Array.from({length: count}, () => []);
  edges.forEach((edge, e) => into[edge[0]].push(e));
  const level = Array(count).fill(0), x = Array(count).fill(0), size_ = node => wide(text(node)) + 14;
  for (let node = n; node < count; node++) for (const e of into[node]) {
    const above = 1 + Math.max(-1, ...edges[e].slice(1).map(tail => level[tail]));
    level[node] = Math.max(level[node], edges[e].slice(1).every(tail => tail < n) ? above : Math.max(2, above));
  }
  const rows = [], tags = Array(n).fill(0);
  for (let node = n; node < count; node++) if (level[node] === 1) tags[nodes[node - n][1]] += size_(node);
  let right = 8;
  for (let word = 0; word < n; word++) {
    const width = Math.max(size_(word), tags[word]);
    x[word] = right + width / 2;
    right += width + 10;
  }
  for (let node = n; node < count; node++) {
    const [, begin, end] = nodes[node - n];
    x[node] = (x[begin] + x[end - 1]) / 2;
    (rows[level[node]] ||= []).push(node);
  }
  for (const row of rows.filter(Boolean)) {
    row.sort((a, b) => x[a] - x[b] || a - b);
    spread(row.map(node => x[node]), row.map(size_)).forEach((place, i) => { x[row[i]] = place; });
  }
  const left = Math.min(...x.map((place, node) => place - size_(node) / 2)) - 8;
  const height = 60 * Math.max(...level) + 34, y = node => height - 14 - 60 * level[node];
  const width = Math.max(...x.map((place, node) => place + size_(node) / 2)) - left + 8;
  const chosen = into.map(list => list.find(e => used.includes(e)) ?? list[0]);
  const name = node => node < n ? words[node] : `${nodes[node - n][0]}[${nodes[node - n][1]},${nodes[node - n][2]})`;
  const holder = make('div', {class: 'drawing forest'});
  function render() {
    const strong = new Set(), open = [goal];
    while (open.length) {
      const node = open.pop();
      strong.add(node);
      if (node >= n && chosen[node] !== undefined) open.push(...edges[chosen[node]].slice(1));
    }
    const svg = draw('svg', {width, height, role: 'img', 'aria-label': 'forest'});
    const drawn = edges.map((edge, e) => {
      const [head, ...tails] = edge, on = strong.has(head) && chosen[head] === e;
      const at = x[head] - left + (into[head].indexOf(e) - (into[head].length - 1) / 2) * 9, dot = y(head) + 18;
      const curves = tails.map(tail => `M${at},${dot}C${at},${(dot + y(tail) - 14) / 2} ${x[tail] - left},${(dot + y(tail) - 14) / 2} ${x[tail] - left},${y(tail) - 14}`);
      return [on, draw('g', {class: on ? 'edge strong' : 'edge'}, draw('title', {}, `${name(head)} → ${tails.map(name).join(' ')}`),
        draw('path', {d: `M${x[head] - left},${y(head) + 5}L${at},${dot}${curves.join('')}`}), draw('circle', {cx: at, cy: dot, r: 3}))];
    });
    svg.append(...drawn.filter(([on]) => !on).map(([, shape]) => shape), ...drawn.filter(([on]) => on).map(([, shape]) => shape));
    for (let node = 0; node < count; node++) {
      const ways = into[node].length;
      const group = draw('g', {class: `node${strong.has(node) ? ' strong' : ''}${ways > 1 ? ' several' : ''}`},
        label(x[node] - left, y(node), text(node), 'middle', node < n ? 'word' : ''));
      if (ways > 1) {
        group.append(draw('title', {}, `${name(node)}: way ${into[node].indexOf(chosen[node]) + 1} of ${ways}; click for the next`));
        group.addEventListener('click', () => {
          chosen[node] = into[node][(into[node].indexOf(chosen[node]) + 1) % ways];
          render();
        });
      }
      svg.append(group);
    }
    holder.replaceChildren(svg);
  }
  render();
  const which = used.length ? 'the one that was translated is strong' : 'the first is strong';
  return make('div', {}, make('p', {class: 'faint'}, `The forest of the source, ${many}; ${which}, a click on an underlined node takes its next alternative.`), holder);
}
