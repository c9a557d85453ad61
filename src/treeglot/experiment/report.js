'use strict';
// The page of an experiment: DATA holds the results, TIMINGS what was measured, if timings.js is there.
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
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#5a5a5a', '#8250df', '#bf3989', '#116329'];
const main = document.querySelector('main');
const timings = typeof TIMINGS === 'undefined' ? {steps: {}} : TIMINGS;
const names = [...DATA.systems, ...DATA.combinations].map(system => system.name);
const colour = name => COLOURS[names.indexOf(name) % COLOURS.length];

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
  return make('p', {}, ...DATA.systems.map(({name}) =>
    make('span', {class: 'key'}, make('i', {style: `background:${colour(name)}`}), name)));
}

// Scores of all tunings: means, and tests of their differences over sentences and seeds.
function means(test) {
  const sign = value => (value >= 0 ? '+' : '−') + fixed(Math.abs(value));
  const rows = DATA.tests[test].scores.map(one => {
    const {BLEU: bleu, chrF: chrf, TER: ter} = one.tunings, against = bleu.against;
    const p = value => against ? [shown(value), value] : ['', 1];
    return [one.system, [fixed(bleu.mean), bleu.mean], bleu.scores.map(score => fixed(score)).join(', '),
      [fixed(bleu.deviation), bleu.deviation], against ? [sign(against.difference), against.difference] : ['', 0],
      against ? [`${sign(against.interval[0])} to ${sign(against.interval[1])}`, against.interval[0]] : ['', 0],
      p(against && against.p), p(against && against.adjusted_p),
      against ? against.sign_tests.map(value => shown(value)).join(', ') : '',
      [fixed(chrf.mean), chrf.mean], [fixed(ter.mean), ter.mean]];
  });
  return table(['system', 'BLEU, mean', `seeds ${DATA.seeds.join(', ')}`, 'deviation', `against ${DATA.baseline}`, '95 % interval', 'p',
    'p, Holm', 'sign test p', 'chrF', 'TER'], rows, i => DATA.tests[test].scores[i].system === DATA.baseline ? 'baseline' : '');
}

function results(test) {
  const scores = DATA.tests[test].scores;
  const speeds = name => (timings.steps[`translate ${name} ${test}`] || {}).ms_per_sentence;
  const rows = scores.map(one => {
    const {BLEU: bleu, chrF2: chrf, TER: ter} = one.scores;
    const against = bleu.against;
    return [one.system, [fixed(bleu.score), bleu.score],
      [`${fixed(bleu.interval[0])} – ${fixed(bleu.interval[1])}`, bleu.interval[0]],
      against ? [(against.difference >= 0 ? '+' : '−') + fixed(Math.abs(against.difference)), against.difference] : ['', 0],
      against ? [shown(against.sign_test.p), against.sign_test.p] : ['', 1],
      against ? [shown(against.bootstrap.p), against.bootstrap.p] : ['', 1],
      [fixed(chrf.score), chrf.score], [fixed(ter.score), ter.score],
      [fixed(one.words / Math.max(one.reference_words, 1), 3), one.words],
      [fixed(speeds(one.system)), speeds(one.system) || 0]];
  });
  return table(['system', 'BLEU', '95 % interval', `against ${DATA.baseline}`, 'sign test p', 'bootstrap p', 'chrF', 'TER', 'length',
    'ms a sentence'], rows, i => scores[i].system === DATA.baseline ? 'baseline' : '');
}

// What the papers' tables have: rules (flat and hierarchical; of forests by kind, as they were extracted), features, BLEU.
function rules() {
  const kinds = [...new Set(DATA.systems.flatMap(system => Object.keys(system.different || {})))];
  const count = number => number === undefined ? ['', 0] : [number.toLocaleString('en'), number];
  const tests = Object.keys(DATA.tests);
  const rows = DATA.systems.map(system => {
    const dev = system.dev;
    const bleu = test => DATA.tests[test].scores.find(one => one.system === system.name).scores.BLEU.score;
    return [system.name, system.summary, count(system.rules), count(system.flat), count(system.hierarchical),
      ...kinds.map(kind => count((system.different || {})[kind])), count(system.features),
      Number.isFinite(dev) ? [fixed(dev), dev] : ['', 0], ...tests.map(test => [fixed(bleu(test)), bleu(test)])];
  });
  return table(['system', 'what it is', 'rules', 'flat', 'hierarchical', ...kinds.map(kind => `${kind} extracted`), 'features',
    'BLEU on dev', ...tests.map(test => `BLEU on ${test}`)], rows, i => names[i] === DATA.baseline ? 'baseline' : '');
}

// A scale from low to high in steps that read well.
function ticks(low, high, most = 8) {
  const raw = Math.max(high - low, 0.5) / most, power = 10 ** Math.floor(Math.log10(raw));
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
  const svg = draw('svg', {class: 'chart', viewBox: `0 0 760 ${height}`, width: 760, role: 'img', 'aria-label': 'BLEU with intervals'});
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
  const svg = draw('svg', {class: 'chart', viewBox: '0 0 760 310', width: 760, role: 'img', 'aria-label': what});
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

// The words of `text`; those that none of `others` has are marked.
function compared(text, others) {
  const split = one => one.split(' ').filter(Boolean);
  const known = new Set(others.flatMap(split));
  return split(text).flatMap(word => [known.has(word) ? word : make('mark', {}, word), ' ']);
}

// How an output was made, drawn beforehand: drawings are held in compressed blocks until somebody wants to see one.
const unpacked = new Map();
async function unpack(block) {
  const bytes = Uint8Array.from(atob(block), character => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'))).json();
}
async function explanation(data, name, number) {
  const combined = DATA.combinations.find(one => one.name === name);
  if (combined) return `The lists of these systems agree on this text: ${combined.systems.join(', ')}.`;
  const block = data.drawn[Math.floor(number / BLOCK)];
  if (block && !unpacked.has(block)) unpacked.set(block, unpack(block));
  const drawings = block && (await unpacked.get(block))[number % BLOCK];
  return drawings ? drawings[names.indexOf(name)] : 'Drawings are kept of the first sentences alone.';
}

function sentence(test, number, other) {
  const data = DATA.tests[test];
  const rows = [['source', data.sources[number]], ...data.references.map(lines => ['reference', lines[number] || ''])];
  const body = make('tbody', {}, ...rows.map(([what, text]) => make('tr', {}, make('td', {}, what), make('td', {}, text), make('td'))));
  const against = (other ? [data.outputs[other]] : data.references).map(lines => lines[number] || '');
  for (const name of names) {
    const drawn = make('section'), more = make('tr', {hidden: ''}, make('td'), make('td', {colspan: 2}, drawn));
    const toggle = async () => {
      more.hidden = !more.hidden;
      if (!more.hidden && !drawn.innerHTML) drawn.innerHTML = await explanation(data, name, number);
    };
    const text = data.outputs[name][number] || '';
    body.append(make('tr', {class: 'system', tabindex: 0, title: 'Show how it was made', onclick: toggle,
      onkeydown: event => { if (event.key === 'Enter') toggle(); }}, make('td', {}, name),
    make('td', {}, ...compared(text, against)), make('td', {class: 'number'}, fixed(data.judged[name][number], 1))), more);
  }
  return make('div', {class: 'sentence', 'data-number': number}, make('strong', {}, `${number + 1}`), make('table', {}, body));
}

function sentences(test) {
  const data = DATA.tests[test], size = 20;
  const length = number => data.sources[number].split(' ').length;
  const different = number => new Set(names.map(name => data.outputs[name][number])).size;
  const orders = {'as they come': i => i, 'shortest first': length, 'longest first': i => -length(i),
    'most different outputs first': i => -different(i)};
  const judged = name => i => data.judged[name][i];
  for (const name of names) {
    orders[`${name}: worst first`] = judged(name);
    orders[`${name}: best first`] = i => -judged(name)(i);
    if (name === DATA.baseline) continue;
    const gain = i => judged(name)(i) - judged(DATA.baseline)(i);
    orders[`${name}: most gained on ${DATA.baseline}`] = i => -gain(i);
    orders[`${name}: most lost to ${DATA.baseline}`] = gain;
  }
  const holder = make('div'), state = {page: 0, text: '', order: 'as they come', other: ''};
  const count = make('span');
  function show() {
    const wanted = state.text.toLowerCase();
    const found = data.sources.map((_, i) => i).filter(i => !wanted || [data.sources[i], ...data.references.map(r => r[i] || ''),
      ...names.map(name => data.outputs[name][i] || '')].some(text => text.toLowerCase().includes(wanted)));
    const key = orders[state.order];
    found.sort((a, b) => key(a) - key(b) || a - b);
    const pages = Math.max(1, Math.ceil(found.length / size));
    state.page = Math.min(Math.max(state.page, 0), pages - 1);
    count.textContent = `${found.length} sentence${found.length === 1 ? '' : 's'}, page ${state.page + 1} of ${pages}`;
    holder.replaceChildren(...found.slice(state.page * size, (state.page + 1) * size).map(i => sentence(test, i, state.other)));
  }
  const change = name => event => { state[name] = event.target.value; state.page = 0; show(); };
  const step = by => () => { state.page += by; show(); };
  const option = (value, text = value) => make('option', {value}, text);
  const controls = make('div', {class: 'controls'},
    make('input', {type: 'search', placeholder: 'search', 'aria-label': 'search', oninput: change('text')}),
    make('select', {'aria-label': 'order', onchange: change('order')}, ...Object.keys(orders).map(name => option(name))),
    make('select', {'aria-label': 'compare with', onchange: change('other')}, option('', 'marked: not in the reference'),
      ...names.map(name => option(name, `marked: not in ${name}'s`))),
    make('button', {onclick: step(-1), 'aria-label': 'previous page'}, '←'),
    make('button', {onclick: step(1), 'aria-label': 'next page'}, '→'), count);
  show();
  return make('div', {}, controls, holder);
}

for (const test of Object.keys(DATA.tests)) {
  if (DATA.tests[test].scores.some(one => one.tunings)) {
    section(`Results on ${test}, all seeds`);
    main.append(means(test));
    section(`Results on ${test}, first seed`);
  } else section(`Results on ${test}`);
  main.append(results(test));
  section(`BLEU on ${test}, with 95 % intervals`);
  main.append(intervals(test));
  section(`BLEU on ${test} by length`);
  main.append(byLength(test));
}
const different = DATA.systems.filter(system => system.unlike.length);
if (different.length) {
  section(`Not comparable with ${DATA.baseline}`);
  main.append(make('ul', {}, ...different.map(system => make('li', {}, `${system.name}: ${system.unlike.join('; ')}`))));
}
if (DATA.combinations.length) {
  section('Combinations');
  main.append(make('ul', {}, ...DATA.combinations.map(one => make('li', {}, `${one.name}: ${one.systems.join(', ')}`))));
}
section('Systems and their rules');
main.append(rules());
section('Tuning: BLEU on the development set by iteration');
main.append(legend(), lines(DATA.systems.map(system => ({name: system.name,
  points: system.tuning.map(entry => [entry.iteration, entry.score])})), 'iteration'));
for (const test of Object.keys(DATA.tests)) {
  section(`Outputs on ${test}: words that others lack are marked; a click on an output shows how it was made; sentence BLEU on the right`);
  main.append(sentences(test));
}
section('Time');
main.append(steps());
const signatures = new Set(Object.values(DATA.tests).flatMap(test => test.scores.flatMap(one =>
  Object.entries(one.scores).map(([name, score]) => `${name} ${score.signature}`))));
main.append(make('footer', {}, ...[DATA.signature, ...signatures,
  ...DATA.systems.map(system => `${system.name} ${system.signature}`)].flatMap(line => [line, make('br')])));
