'use strict';
// The page of an experiment: DATA holds the results, TIMINGS what was measured, if timings.js is there.
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#5a5a5a', '#8250df', '#bf3989', '#116329'];
const SVG = 'http://www.w3.org/2000/svg';
const main = document.querySelector('main');
const timings = typeof TIMINGS === 'undefined' ? {steps: {}} : TIMINGS;
const names = DATA.systems.map(system => system.name);
const colour = name => COLOURS[names.indexOf(name) % COLOURS.length];

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
const section = title => main.append(make('h2', {}, title));
const shown = (p, least = 0.001) => p < least ? `< ${least}` : p.toFixed(3);
const fixed = (value, digits = 2) => value === null || value === undefined ? '' : value.toFixed(digits);

// A table that is sorted by the column that is clicked. A cell is a text, or [text, value to sort by].
function table(heads, rows, classes = () => '') {
  const body = make('tbody');
  const cells = rows.map(row => row.map(cell => Array.isArray(cell) ? cell : [cell, cell]));
  const fill = order => body.replaceChildren(...order.map(i => make('tr', {class: classes(i)},
    ...cells[i].map(([text, value]) => make('td', {class: typeof value === 'number' ? 'number' : ''}, String(text))))));
  const order = rows.map((_, i) => i);
  const top = heads.map((head, column) => make('th', {
    class: rows.some((_, i) => typeof cells[i][column][1] === 'number') ? 'number' : '', tabindex: 0,
    onclick: event => sort(event.currentTarget, column),
    onkeydown: event => { if (event.key === 'Enter') sort(event.currentTarget, column); }}, head));
  function sort(head, column) {
    const down = head.getAttribute('aria-sort') !== 'descending';
    top.forEach(other => other.removeAttribute('aria-sort'));
    head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    const value = i => cells[i][column][1];
    order.sort((a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0) * (down ? -1 : 1));
    fill(order);
  }
  fill(order);
  return make('div', {class: 'wide'}, make('table', {}, make('thead', {}, make('tr', {}, ...top)), body));
}

function legend() {
  return make('p', {}, ...names.map(name =>
    make('span', {class: 'key'}, make('i', {style: `background:${colour(name)}`}), name)));
}

function results(test) {
  const scores = DATA.tests[test].scores;
  const speeds = name => (timings.steps[`translate ${name} ${test}`] || {}).ms_per_sentence;
  // Rules by kind as they were extracted, where a model has kinds: table 2 of the c2d paper.
  const kinds = [...new Set(DATA.systems.flatMap(system => Object.keys(system.different || {})))];
  const count = number => number === undefined ? ['', 0] : [number.toLocaleString('en'), number];
  const rows = scores.map(one => {
    const system = DATA.systems.find(other => other.name === one.system);
    const {BLEU: bleu, chrF2: chrf, TER: ter} = one.scores;
    const against = bleu.against;
    return [one.system, system.summary, [system.rules.toLocaleString('en'), system.rules],
      [system.flat.toLocaleString('en'), system.flat], ...kinds.map(kind => count((system.different || {})[kind])),
      [fixed(bleu.score), bleu.score],
      [`${fixed(bleu.interval[0])} – ${fixed(bleu.interval[1])}`, bleu.interval[0]],
      against ? [(against.difference >= 0 ? '+' : '−') + fixed(Math.abs(against.difference)), against.difference] : ['', 0],
      against ? [shown(against.sign_test.p), against.sign_test.p] : ['', 1],
      against ? [shown(against.bootstrap.p), against.bootstrap.p] : ['', 1],
      [fixed(chrf.score), chrf.score], [fixed(ter.score), ter.score],
      [fixed(one.words / Math.max(one.reference_words, 1), 3), one.words],
      [fixed(speeds(one.system)), speeds(one.system) || 0]];
  });
  const extracted = kinds.map(kind => `${kind} extracted`);
  return table(['system', 'what it is', 'rules', 'without variables', ...extracted, 'BLEU', '95 % interval', 'difference',
    'sign test p', 'bootstrap p', 'chrF', 'TER', 'length', 'ms a sentence'], rows, i => scores[i].system === DATA.baseline ? 'baseline' : '');
}

// A scale from low to high in steps that read well.
function ticks(low, high, most = 8) {
  const raw = Math.max(high - low, 1e-9) / most, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= raw);
  const out = [];
  for (let at = Math.floor(low / step); at * step < high + step * 0.999; at++) out.push(at * step);
  return {values: out, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9))};
}

function intervals(test) {
  const scores = DATA.tests[test].scores.map(one => ({name: one.system, ...one.scores.BLEU}));
  const left = 150, right = 740, row = 26, height = scores.length * row + 40;
  const scale = ticks(Math.min(...scores.map(s => s.interval[0])), Math.max(...scores.map(s => s.interval[1])));
  const low = scale.values[0], high = scale.values[scale.values.length - 1];
  const x = value => left + (value - low) / (high - low) * (right - left);
  const svg = draw('svg', {viewBox: `0 0 760 ${height}`, width: 760, role: 'img', 'aria-label': 'BLEU with intervals'});
  for (const value of scale.values) {
    svg.append(draw('line', {x1: x(value), x2: x(value), y1: 8, y2: height - 28, class: 'grid'}),
      label(x(value), height - 12, value.toFixed(scale.digits), 'middle', 'faint'));
  }
  scores.forEach((one, i) => {
    const y = 20 + i * row;
    svg.append(label(left - 10, y + 4, one.name, 'end'),
      draw('line', {x1: x(one.interval[0]), x2: x(one.interval[1]), y1: y, y2: y, stroke: colour(one.name), 'stroke-width': 3}),
      draw('circle', {cx: x(one.score), cy: y, r: 5, fill: colour(one.name)}, draw('title', {}, fixed(one.score))));
  });
  return svg;
}

function lines(series, what) {
  const points = series.flatMap(one => one.points);
  if (!points.length) return make('p', {}, 'Nothing was tuned.');
  const scale = ticks(Math.min(...points.map(p => p[1])), Math.max(...points.map(p => p[1])));
  const low = scale.values[0], high = scale.values[scale.values.length - 1];
  const last = Math.max(...points.map(p => p[0]), 2), first = Math.min(...points.map(p => p[0]));
  const x = value => 50 + (value - first) / Math.max(last - first, 1) * 690;
  const y = value => 270 - (value - low) / (high - low) * 250;
  const svg = draw('svg', {viewBox: '0 0 760 310', width: 760, role: 'img', 'aria-label': what});
  for (const value of scale.values) {
    svg.append(draw('line', {x1: 50, x2: 740, y1: y(value), y2: y(value), class: 'grid'}),
      label(44, y(value) + 4, value.toFixed(scale.digits), 'end', 'faint'));
  }
  for (let at = first; at <= last; at++) svg.append(label(x(at), 290, at, 'middle', 'faint'));
  for (const one of series) {
    svg.append(draw('polyline', {points: one.points.map(p => `${x(p[0])},${y(p[1])}`).join(' '), fill: 'none',
      stroke: colour(one.name), 'stroke-width': 2}));
    for (const point of one.points) svg.append(draw('circle', {cx: x(point[0]), cy: y(point[1]), r: 3, fill: colour(one.name)},
      draw('title', {}, `${one.name}, ${what} ${point[0]}: ${fixed(point[1])}`)));
  }
  return svg;
}

function byLength(test) {
  const scores = DATA.tests[test].scores;
  const words = bin => bin.longest === null ? `${bin.shortest} and more` : `${bin.shortest} to ${bin.longest}`;
  const rows = scores[0].by_length.map((bin, i) => [[words(bin), bin.shortest], [bin.sentences, bin.sentences],
    ...scores.map(one => [fixed(one.by_length[i].bleu), one.by_length[i].bleu])]);
  return table(['words of the reference', 'sentences', ...scores.map(one => one.system)], rows);
}

function steps() {
  const rows = Object.entries(timings.steps).map(([name, one]) => [name, [fixed(one.wall, 1), one.wall], [fixed(one.cpu, 1), one.cpu]]);
  return rows.length ? table(['step', 'seconds', 'seconds of the processor'], rows)
    : make('p', {}, 'timings.js is not beside this page.');
}

// The words of `text`, those that are not in the longest common subsequence with `other` marked.
function compared(text, other) {
  const a = text.split(' ').filter(Boolean), b = other.split(' ').filter(Boolean);
  const best = Array.from({length: a.length + 1}, () => new Uint16Array(b.length + 1));
  for (let i = a.length; i-- > 0;) for (let j = b.length; j-- > 0;)
    best[i][j] = a[i] === b[j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
  const out = [];
  for (let i = 0, j = 0; i < a.length; i++) {
    while (j < b.length && a[i] !== b[j] && best[i][j + 1] >= best[i + 1][j]) j++;
    if (j < b.length && a[i] === b[j]) { out.push(a[i]); j++; } else out.push(make('mark', {}, a[i]));
    out.push(' ');
  }
  return out;
}

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
  // Chinese characters are about twice as wide as Latin letters.
  const width = text => [...text].reduce((sum, c) => sum + (c > '\u2e7f' ? 13 : 7), 0);
  const lines = node => [`${node.name} [${node.begin}, ${node.end})`, node.source, node.target];
  function measure(node) {
    node.own = Math.max(...lines(node).map(width)) + 20;
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

function dependencies(text, heads, tags) {
  const words = text.split(' ').filter(Boolean), at = [];
  let x = 20;
  for (const [i, word] of words.entries()) {
    const size = Math.max([...word].length * 8, (tags[i] || '').length * 8) + 18;
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

function sentence(test, number) {
  const data = DATA.tests[test], reference = data.references[0][number] || '';
  const rows = [['source', data.sources[number]], ...data.references.map(lines => ['reference', lines[number] || ''])];
  const body = make('tbody', {}, ...rows.map(([what, text]) => make('tr', {}, make('td', {}, what), make('td', {}, text))));
  for (const name of names) {
    const explained = data.derivations[name][number];
    const more = make('tr', {hidden: ''}, make('td'), make('td'));
    const toggle = () => {
      more.hidden = !more.hidden;
      if (more.hidden || more.lastChild.childNodes.length) return;
      if (!explained) { more.lastChild.append('Derivations are kept of the first sentences alone.'); return; }
      if (explained.heads) more.lastChild.append(dependencies(data.outputs[name][number], explained.heads, explained.tags));
      more.lastChild.append(derivation(explained.steps));
    };
    body.append(make('tr', {class: 'system', tabindex: 0, title: 'Show how it was made', onclick: toggle,
      onkeydown: event => { if (event.key === 'Enter') toggle(); }},
    make('td', {}, name), make('td', {}, ...compared(data.outputs[name][number] || '', reference))), more);
  }
  return make('div', {class: 'sentence', 'data-number': number}, make('strong', {}, `${number + 1}`), make('table', {}, body));
}

function sentences(test) {
  const data = DATA.tests[test], size = 20;
  const length = number => data.sources[number].split(' ').length;
  const different = number => new Set(names.map(name => data.outputs[name][number])).size;
  const orders = {'as they come': i => i, 'shortest first': length, 'longest first': i => -length(i),
    'most different outputs first': i => -different(i)};
  const holder = make('div'), state = {page: 0, text: '', order: 'as they come'};
  const count = make('span');
  function show() {
    const wanted = state.text.toLowerCase();
    const found = data.sources.map((_, i) => i).filter(i => !wanted || [data.sources[i], ...data.references.map(r => r[i] || ''),
      ...names.map(name => data.outputs[name][i] || '')].some(text => text.toLowerCase().includes(wanted)));
    const key = orders[state.order];
    found.sort((a, b) => key(a) - key(b) || a - b);
    const pages = Math.max(1, Math.ceil(found.length / size));
    state.page = Math.min(Math.max(state.page, 0), pages - 1);
    count.textContent = `${found.length} sentences, page ${state.page + 1} of ${pages}`;
    holder.replaceChildren(...found.slice(state.page * size, (state.page + 1) * size).map(i => sentence(test, i)));
  }
  const step = by => () => { state.page += by; show(); };
  const controls = make('div', {class: 'controls'},
    make('input', {type: 'search', placeholder: 'search', 'aria-label': 'search',
      oninput: event => { state.text = event.target.value; state.page = 0; show(); }}),
    make('select', {'aria-label': 'order', onchange: event => { state.order = event.target.value; state.page = 0; show(); }},
      ...Object.keys(orders).map(name => make('option', {}, name))),
    make('button', {onclick: step(-1)}, '←'), make('button', {onclick: step(1)}, '→'), count);
  show();
  return make('div', {}, controls, holder);
}

for (const test of Object.keys(DATA.tests)) {
  section(`Results on ${test}`);
  main.append(results(test));
  section(`BLEU on ${test}, with 95 % intervals`);
  main.append(intervals(test));
  section(`BLEU on ${test} by length`);
  main.append(byLength(test));
}
section('Tuning: BLEU on the development set by iteration');
main.append(legend(), lines(DATA.systems.map(system => ({name: system.name,
  points: system.tuning.map(entry => [entry.iteration, entry.score])})), 'iteration'));
section('Time');
main.append(steps());
for (const test of Object.keys(DATA.tests)) {
  section(`Outputs on ${test}: what differs from the reference is marked; click an output for its derivation`);
  main.append(sentences(test));
}
const signatures = new Set(Object.values(DATA.tests).flatMap(test => test.scores.flatMap(one =>
  Object.entries(one.scores).map(([name, score]) => `${name} ${score.signature}`))));
main.append(make('footer', {}, ...[DATA.signature, ...signatures].flatMap(line => [line, make('br')])));
