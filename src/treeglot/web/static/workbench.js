// The workbench: text in, translations sentence by sentence, and how each of them was made.
'use strict';

const $ = id => document.getElementById(id);
const NOTHING = {weights: null, tree: null, contains: null, forbid: null, glossary: null}; // no change
const WAIT = 250; // milliseconds after the last key
let models = [], running = null, waiting = 0, edits = {}; // edits: weights and parses, by sentence

function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, '');
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.filter(child => child !== null));
  return element;
}

function say(text, bad = false) {
  $('state').textContent = text;
  $('state').classList.toggle('bad', bad);
}

// The address holds all that is needed to see the same again: the model and its version, the text, what was changed.
const address = () => new URLSearchParams(location.hash.slice(1));

function headers() {
  const key = address().get('key') || sessionStorage.getItem('key');
  return {'Content-Type': 'application/json', ...(key ? {Authorization: `Bearer ${key}`} : {})};
}

async function ask(path, fields, signal) {
  const answer = await fetch(path, fields === undefined ? {headers: headers(), signal} :
    {method: 'POST', headers: headers(), body: JSON.stringify(fields), signal});
  if (answer.ok) return answer;
  const problem = (await answer.json().catch(() => ({}))).error || `the service answers ${answer.status}`;
  throw Object.assign(new Error(problem), {status: answer.status});
}

// Whether nothing newer was asked for the same place: an answer that is late shows nothing.
const newest = new WeakMap();
function latest(place) {
  const own = {};
  newest.set(place, own);
  return () => newest.get(place) === own;
}

async function* lines(answer) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const {value, done} = await reader.read();
    if (done) return;
    const parts = (rest + value).split('\n');
    rest = parts.pop();
    for (const part of parts) yield JSON.parse(part);
  }
}

const chosen = () => models.find(model => model.name === $('model').value);
const ITSELF = ' '; // no model has this name
const other = () => $('other').value === ITSELF ? chosen() : models.find(model => model.name === $('other').value);

function remember() {
  const parts = new URLSearchParams();
  const model = chosen();
  if (!model) return;
  parts.set('model', model.name);
  parts.set('digest', model.digest);
  if (other()) parts.set('with', $('other').value);
  parts.set('q', $('text').value);
  if (Object.keys(edits).length) parts.set('edits', JSON.stringify(edits));
  history.replaceState(null, '', `#${parts}`);
}

// Translate all of the text anew. Cards of sentences that are still there stay as they are.
async function translate() {
  running?.abort();
  busy(true);
  const own = running = new AbortController();
  const text = $('text').value, box = $('sentences'), characters = [...text];
  remember();
  const kept = new Map([...box.children].map(card => [card.own, card]));
  const open = new Set([...box.children].filter(card => !card.panel.hidden).map(card => card.source));
  if (!text.trim()) {
    box.replaceChildren();
    $('translation').textContent = '';
    busy(false);
    return say('');
  }
  say('translating …');
  const cards = [];
  let whole = '', last = 0, count = 0;
  const spaced = !/^(zh|ja|km|lo|my|th)\b/.test(chosen().target);
  try {
    const model = chosen();
    const answer = await ask('v1/translate', {q: text, model: model.name, trace: true, stream: true, confidence: model.confidence}, own.signal);
    for await (const found of lines(answer)) {
      if (found.error) throw new Error(found.error);
      if (found.done) break;
      const name = `${model.digest} ${found.begin} ${found.source}`;
      const card = kept.get(name) || newCard(found, model);
      if (!kept.has(name) && open.has(found.source)) toggle(card);
      card.own = name;
      card.begin = found.begin;
      if (box.children[count] !== card) box.insertBefore(card, box.children[count] || null);
      count += 1;
      cards.push(card);
      let between = characters.slice(last, found.begin).join('');
      if (last && !between.trim() && !between.includes('\n')) between = spaced ? between || ' ' : '';
      whole += between + card.best.text;
      last = found.end;
      $('translation').textContent = whole;
    }
    while (box.children.length > count) box.lastChild.remove();
    $('translation').textContent = whole + characters.slice(last).join('');
    for (const card of cards) if (card.edited && !card.done) { card.done = true; await explain(card, true); }
    if (own !== running) return;
    if (other()) await compare(cards, text, own.signal);
    say(`${count} ${count === 1 ? 'sentence' : 'sentences'}`);
  } catch (error) {
    if (error.name !== 'AbortError') say(error.message, true);
  }
  if (own === running) busy(false);
}

async function compare(cards, text, signal) {
  const model = other();
  const answer = await ask('v1/translate', {q: text, model: model.name, trace: true, stream: true}, signal);
  for (const card of cards) card.others.replaceChildren();
  for await (const found of lines(answer)) {
    if (found.error) throw new Error(found.error);
    if (found.done) break;
    const card = cards.filter(each => each.begin <= found.begin).pop() || cards[0];
    const line = targetLine(card, found, model === chosen() ? 'unchanged' : model.name);
    mark(card, line);
    card.others.append(line);
  }
}

// Words of another output that the card's own lacks.
function mark(card, line) {
  const mine = new Set(words(card.best.text, card.best.target_spans));
  for (const word of line.querySelectorAll('.word')) word.classList.toggle('differs', !mine.has(word.textContent));
}

const words = (text, spans) => spans.map(([begin, end]) => [...text].slice(begin, end).join(''));

// A line of words; what stands between them is kept. Offsets count characters, not UTF-16 units.
function wordLine(kind, text, spans, language, label) {
  const line = make('p', {class: `line ${kind}`, lang: language, role: 'group', 'aria-label': label});
  const characters = [...text];
  let last = 0;
  spans.forEach(([begin, end], number) => {
    line.append(characters.slice(last, begin).join(''));
    const word = make('span', {class: 'word', tabindex: number ? -1 : 0}, characters.slice(begin, end).join(''));
    word.number = number;
    line.append(word);
    last = end;
  });
  line.append(characters.slice(last).join(''));
  line.addEventListener('keydown', event => {
    const step = {ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity}[event.key];
    if (step === undefined || !event.target.classList.contains('word')) return;
    const all = [...line.querySelectorAll('.word')];
    const place = Math.min(Math.max(all.indexOf(event.target) + step, 0), all.length - 1);
    for (const word of all) word.tabIndex = -1;
    all[place].tabIndex = 0;
    all[place].focus();
    event.preventDefault();
  });
  return line;
}

function newCard(found, model) {
  const card = make('article', {class: 'sentence', 'aria-label': found.source});
  card.model = model;
  card.source = found.source;
  card.others = make('div');
  card.hint = make('p', {class: 'hint', 'aria-live': 'polite'});
  card.panel = make('section', {class: 'explanation', hidden: true, 'aria-label': 'How it was made'});
  card.opener = make('button', {type: 'button', 'aria-expanded': 'false', onclick: () => toggle(card)}, 'Explain');
  card.lines = make('div');
  card.edited = edits[found.source];
  show(card, found);
  card.append(make('div', {class: 'bar'}, card.lines, card.opener), card.others, card.hint, card.panel);
  return card;
}

// Put a translation into a card.
function show(card, found) {
  card.best = found;
  const source = wordLine('source', found.source, found.source_spans, card.model.source, 'source');
  card.lines.replaceChildren(source, targetLine(card, found, null));
  if (found.notes || found.problem) card.lines.append(make('p', {class: 'faint'}, [found.problem, ...found.notes || []].filter(Boolean).join('; ')));
}

function targetLine(card, found, name) {
  const line = wordLine('target', found.text, found.target_spans, card.model.target, name || 'translation');
  line.found = found;
  (found.word_confidence || []).forEach((sure, number) => {
    const word = line.querySelectorAll('.word')[number];
    if (!word) return;
    word.title = `${Math.round(100 * sure)} % sure`;
    if (sure < 0.8) word.classList.add(sure < 0.5 ? 'unsure-2' : 'unsure-1');
  });
  if (found.confidence !== undefined) line.append(make('span', {class: 'which', title: 'how sure the model is of this sentence'}, ` ${Math.round(100 * found.confidence)} % sure`));
  if (name) line.prepend(make('span', {class: 'which'}, name));
  return line;
}

// What belongs to a word: aligned words are lit, the words that its rule covers are shaded, the rule is written below.
function point(word, on) {
  const card = word.closest('.sentence'), line = word.closest('.line');
  if (!card || !line) return;
  for (const one of card.querySelectorAll('.lit, .ruled')) one.classList.remove('lit', 'ruled');
  card.hint.textContent = '';
  if (!on) return;
  const target = line.classList.contains('target') ? line : card.lines.querySelector('.target');
  const found = target.found, side = line === target ? 1 : 0;
  const sources = [...card.lines.querySelectorAll('.source .word')], targets = [...target.querySelectorAll('.word')];
  word.classList.add('lit');
  const linked = found.alignment.filter(link => link[side] === word.number);
  for (const [i, j] of linked) { sources[i]?.classList.add('lit'); targets[j]?.classList.add('lit'); }
  const step = side ? found.given_by?.[word.number] : innermost(found.derivation || [], word.number);
  const rule = found.derivation?.[step];
  if (!rule) return;
  sources.slice(...rule.span).forEach(each => each.classList.add('ruled'));
  found.given_by.forEach((each, j) => each === step && targets[j]?.classList.add('ruled'));
  const where = `${rule.label} over words ${rule.span[0] + 1} to ${rule.span[1]}`;
  card.hint.textContent = `${rule.source} → ${rule.target} · ${where}${rule.local ? ' · not of the table' : ''}`;
  const part = card.parts?.[step];
  if (part && found === card.best) for (const each of card.panel.querySelectorAll(`[data-part="${part}"]`)) each.classList.add('lit');
}

function innermost(steps, word) {
  let best = 0;
  steps.forEach((step, number) => { if (step.span[0] <= word && word < step.span[1]) best = number; });
  return best;
}

for (const [kind, on] of [['mouseover', true], ['mouseout', false], ['focusin', true], ['focusout', false]])
  document.addEventListener(kind, event => {
    const word = event.target.closest?.('.word');
    if (word) point(word, on);
  });

function toggle(card) {
  const open = card.panel.hidden;
  card.panel.hidden = !open;
  card.opener.setAttribute('aria-expanded', open);
  card.opener.textContent = open ? 'Close' : 'Explain';
  return open ? explain(card) : undefined;
}

// Ask how a sentence was made, with its changes, and show it.
async function explain(card, quiet = false) {
  const changed = card.edited || {}, current = latest(card);
  try {
    const fields = {q: card.source, model: card.model.name, weights: changed.weights || {}};
    for (const name of ['tree', 'contains', 'forbid', 'glossary']) if (changed[name]) fields[name] = changed[name];
    const found = await (await ask('v1/explain', fields)).json();
    if (!current()) return;
    card.parts = found.parts;
    if (card.edited || card.wasEdited) {
      show(card, {...found.sentence, source: card.source});
      for (const line of card.others.querySelectorAll('.line')) mark(card, line);
      total();
    }
    card.wasEdited = Boolean(card.edited);
    if (!quiet || !card.panel.hidden) panel(card, found);
  } catch (error) {
    if (current()) card.panel.replaceChildren(make('p', {class: 'bad'}, error.message));
  }
}

// The translation above follows what was changed in a card.
function total() {
  const cards = [...$('sentences').children];
  if (cards.some(card => card.edited)) {
    const spaced = !/^(zh|ja|km|lo|my|th)\b/.test(chosen().target);
    $('translation').textContent = cards.map(card => card.best.text).join(spaced ? ' ' : '');
  } else schedule();
}

function change(card, edited) {
  card.edited = {...card.edited, ...edited};
  for (const name of Object.keys(card.edited)) if (card.edited[name] === null) delete card.edited[name];
  if (Object.keys(card.edited).length) edits[card.source] = card.edited;
  else { card.edited = undefined; delete edits[card.source]; }
  remember();
}

function edit(card, edited) {
  change(card, edited);
  return explain(card);
}

function panel(card, found) {
  const opened = new Set([...card.panel.querySelectorAll('details[open] > summary')].map(each => each.textContent));
  const drawing = make('div', {class: 'drawn'});
  drawing.innerHTML = found.html; // made and escaped by the service
  for (const each of drawing.querySelectorAll('[data-style]')) each.style.cssText = each.dataset.style;
  for (const each of drawing.querySelectorAll('.drawing')) { each.tabIndex = 0; each.setAttribute('role', 'group'); each.setAttribute('aria-label', 'drawing'); }
  for (const table of drawing.querySelectorAll('table')) wide(table);
  const forest = drawing.querySelector('[data-tails]')?.closest('details');
  if (forest) {
    const use = make('button', {type: 'button', onclick: () => edit(card, {tree: picked(forest, found)})}, 'Translate this parse');
    const help = make('span', {class: 'faint'}, 'A click on an underlined node, or Enter, takes the next way to build it.');
    forest.querySelector('summary').after(make('div', {class: 'tools'}, use, help));
    forest.querySelector('svg').setAttribute('role', 'group'); // it is no mere picture: its nodes are buttons
    for (const node of forest.querySelectorAll('text.several')) {
      for (const [name, value] of [['tabindex', 0], ['role', 'button'], ['aria-label', `${node.textContent}: another way`]]) node.setAttribute(name, value);
      node.addEventListener('keydown', event => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        node.dispatchEvent(new MouseEvent('click', {bubbles: true}));
        event.preventDefault();
      });
    }
  }
  const tools = make('div', {class: 'tools'});
  if (card.edited) tools.append(make('button', {type: 'button', onclick: () => edit(card, NOTHING)}, 'Undo all changes'));
  const titled = (title, ...parts) => make('div', {class: 'group'}, make('h3', {}, title), ...parts);
  card.panel.replaceChildren(tools,
    titled('Correct', better(card), terms(card), rule(card), phrases(card, 'contains', 'Must contain'), phrases(card, 'forbid', 'Must not contain')),
    titled('Why', why(card), whyNot(card)),
    titled('How it was made', drawing, competing(card, found), sliders(card, found)));
  for (const each of card.panel.querySelectorAll('summary')) if (opened.has(each.textContent)) each.parentNode.open = true;
}

// Terms: source words with the translation that they must have. Kept ones go into the model's glossary.
function terms(card) {
  const now = card.edited?.glossary || {};
  const [source, target] = ['Term', 'Its translation'].map(label => make('input', {type: 'text', 'aria-label': label, placeholder: label.toLowerCase()}));
  source.lang = card.model.source;
  target.lang = card.model.target;
  const given = list => ({glossary: Object.keys(list).length ? list : null});
  const without = term => given(Object.fromEntries(Object.entries(now).filter(([other]) => other !== term)));
  const chips = Object.entries(now).flatMap(([term, translation]) => [
    make('button', {type: 'button', class: 'chip', 'aria-label': `remove ${term}`, onclick: () => edit(card, without(term))},
      `${term} → ${translation} ×`),
    make('button', {type: 'button', class: 'chip', 'aria-label': `try ${term}`,
      onclick: () => tryOut(card, box, {glossary: {[term]: translation}}, () => kept(term, translation))}, 'What else changes')]);
  const kept = (term, translation) => keep(card.model.name, [{source: term, target: translation}], null, () => change(card, without(term)));
  const box = make('div');
  return make('div', {}, make('form', {class: 'tools', onsubmit: event => {
    event.preventDefault();
    if (source.value.trim()) edit(card, given({...now, [source.value.trim()]: target.value.trim()}));
  }}, make('span', {}, 'Force a term'), source, target, make('button', {}, 'Apply'), ...chips), box);
}

async function glossary(model) {
  const {glossaries} = await (await ask('v1/glossaries')).json();
  return glossaries.find(one => one.model === model) || {entries: []};
}

// Change the glossary as it is now; if somebody else changes it just then, change what they made of it.
async function replace(model, added, removed, tries = 5) {
  const {entries, version} = await glossary(model);
  const old = entries.filter(entry => entry.source !== removed && !added.some(one => one.source === entry.source));
  try {
    await ask('v1/glossaries', {model, version, entries: [...old, ...added]});
  } catch (error) {
    if (error.status !== 409 || !tries) throw error;
    await replace(model, added, removed, tries - 1);
  }
}

async function keep(model, added, removed = null, done = () => {}) {
  try {
    await replace(model, added, removed);
    done();
    await begin(true);
    say(removed === null ? 'kept in the glossary' : 'removed from the glossary');
  } catch (error) {
    say(error.message, true);
  }
}

// The glossary of the model: what is kept, one button each to take it out, a line to add a term, and a file to save.
async function showGlossary() {
  const current = latest($('glossary')), {entries} = await glossary($('model').value);
  if (!current()) return;
  $('glossary').hidden = false;
  const [source, target] = ['New term', 'Translation of the new term'].map(label => make('input', {type: 'text', 'aria-label': label, placeholder: label.toLowerCase()}));
  const mode = make('select', {'aria-label': 'Mode of the new term'}, ...['force', 'prefer', 'forbid'].map(name => make('option', {}, name)));
  const form = make('form', {class: 'tools', onsubmit: event => {
    event.preventDefault();
    keep($('model').value, [{source: source.value.trim(), target: target.value.trim(), mode: mode.value}]);
  }}, source, target, mode, make('button', {}, 'Add'));
  const columns = ['source', 'target', 'mode', 'case', 'forms', 'pos'];
  const lines = [columns, ...entries.map(entry => columns.map(name => name === 'forms' ? entry.forms.join('|') : entry[name]))];
  const shown = entries.length ? [tabled(['source', 'target', 'mode', 'change'], entries.map(entry => make('tr', {},
    make('td', {}, entry.source), make('td', {}, entry.target), make('td', {}, entry.mode),
    make('td', {}, make('button', {type: 'button', 'aria-label': `remove ${entry.source} from the glossary`,
      onclick: () => keep($('model').value, [], entry.source)}, 'Remove'))))),
    make('p', {}, saved('glossary.tsv', lines.map(line => line.join('\t'))))] : [make('p', {class: 'faint'}, 'no terms')];
  $('entries').replaceChildren(form, ...shown);
}

function saved(name, lines) {
  const file = new Blob(lines.map(line => `${line}\n`), {type: 'text/plain'});
  return make('a', {download: name, href: URL.createObjectURL(file)}, 'Save as a file');
}

// A better translation, which the model learns from. What that changes is shown before it is kept.
function better(card) {
  const box = make('div');
  const input = make('textarea', {rows: 1, lang: card.model.target, 'aria-label': 'Better translation', onkeydown: event => {
    if (event.key !== 'Enter' || event.isComposing) return; // as in the fields of one line; a sentence has no line breaks
    event.preventDefault();
    event.target.form.requestSubmit();
  }}, card.best.text);
  const learn = translation => correct('v1/learn', {q: card.source, translation, model: card.model.name},
    found => found.rules.length ? `learnt ${found.rules.length} rules` : 'nothing learnt: the model had all rules of this pair');
  return make('div', {}, make('form', {class: 'tools', onsubmit: event => {
    event.preventDefault();
    const translation = input.value.trim();
    if (translation) tryOut(card, box, {sentence: card.source, translation}, () => learn(translation));
  }}, make('span', {}, 'Better translation'), input, make('button', {}, 'Try')), box);
}

// A rule to add. What it changes is shown before it is kept.
function rule(card) {
  const box = make('div');
  const [source, target] = ['Source side of a rule', 'Its target side'].map(label => make('input', {type: 'text', 'aria-label': label, placeholder: label.toLowerCase()}));
  source.lang = card.model.source;
  target.lang = card.model.target;
  return make('div', {}, make('form', {class: 'tools', onsubmit: event => {
    event.preventDefault();
    if (source.value.trim()) tryRule(card, box, {action: 'add', source: source.value.trim(), target: target.value.trim()});
  }}, make('span', {}, 'Add a rule'), source, target, make('button', {}, 'Try')), box);
}

function tryRule(card, box, correction) {
  const fields = {corrections: [correction]};
  return tryOut(card, box, fields, () => correct('v1/corrections', {model: card.model.name, ...fields}, () => 'kept'));
}

// What a change does: to this sentence, and to those that the service has to check with. `kept` keeps it.
function tryOut(card, box, fields, kept) {
  return say_in(box, async own => {
    const check = async more => (await ask('v1/corrections/check', {model: card.model.name, ...fields, ...more})).json();
    const [here, all] = [await check({q: [card.source]}), card.model.dev ? await check({}) : null];
    if (all) radius(own, all); else own.replaceChildren();
    own.prepend(...[here.changed ? `Here: ${here.changes[0].before} → ${here.changes[0].after}` : 'This sentence stays as it is.', ...here.notes].map(line => make('p', {}, line)));
    own.append(make('div', {class: 'tools'}, make('button', {type: 'button', onclick: kept}, 'Keep'),
      make('button', {type: 'button', onclick: () => box.replaceChildren()}, 'Drop')));
  });
}

function radius(box, all) {
  const scores = Object.entries(all.scores).map(([name, {before, after}]) => `, ${name} ${before.toFixed(2)} → ${after.toFixed(2)}`);
  const of = scores.length ? ` (scores of the ${all.touched} that can change)` : '';
  const changes = all.changes.map(each => make('p', {class: 'faint'}, each.source, make('br'), `− ${each.before}`, make('br'), `+ ${each.after}`));
  box.replaceChildren(make('p', {}, `${all.changed} of ${all.sentences} other sentences change${scores.join('')}${of}.`),
    changes.length ? make('details', {}, make('summary', {}, 'Which sentences'), ...changes) : '');
}

async function correct(path, fields, text) {
  try {
    const found = await (await ask(path, fields)).json();
    await begin(true);
    say(text(found));
  } catch (error) {
    say(error.message, true);
  }
}

const shownCorrection = each => each.action === 'weigh' ? `${Object.keys(each.features).length} weights moved` :
  `${each.action} ${each.source} → ${each.target ?? 'any'}`;

// The corrections of the model: a button for each group to take it back, and a file of all to save.
async function showCorrections() {
  const current = latest($('corrections'));
  const {corrections} = await (await ask('v1/corrections')).json();
  if (!current()) return;
  const held = corrections.find(one => one.model === $('model').value)?.corrections || [];
  const groups = new Map();
  for (const each of held) groups.set(each.group, [...groups.get(each.group) || [], each]);
  const rows = [...groups].map(([group, list]) => make('tr', {},
    make('td', {}, ...list.slice(-3).reverse().flatMap(each => [shownCorrection(each), make('br')]),
      list.length > 3 ? make('span', {class: 'faint'}, `and ${list.length - 3} more`) : ''),
    make('td', {}, list[0].author), make('td', {class: 'faint'}, list[0].date.slice(0, 10)),
    make('td', {}, group ? make('button', {type: 'button', 'aria-label': `undo ${list[0].source}`,
      onclick: () => correct('v1/corrections/undo', {model: $('model').value, group}, () => 'taken back')}, 'Undo') : '')));
  $('corrections').hidden = false;
  const box = make('div');
  const check = () => say_in(box, async own => radius(own, await (await ask('v1/corrections/check', {model: $('model').value})).json()));
  $('held').replaceChildren(...held.length ? [tabled(['rules', 'by', 'on', 'change'], rows),
    make('div', {class: 'tools'}, saved('corrections.txt', held.map(each => each.line)),
      chosen().dev ? make('button', {type: 'button', onclick: check}, 'What they change') : ''), box] :
    [make('p', {class: 'faint'}, 'no corrections')]);
}

// What users suggested. A click opens the sentence with the suggestion as its better translation, to be tried and kept.
async function showSuggestions() {
  const current = latest($('suggestions')), model = chosen();
  const {suggestions: taken} = await (await ask('frontend/settings')).json();
  if (!taken || !headers().Authorization) return;
  const answer = await ask('v1/suggestions').catch(error => {
    if (error.status !== 403) throw error; // they are for others
  });
  const {suggestions} = answer ? await answer.json() : {};
  if (!current() || !suggestions) return;
  const rows = suggestions.filter(each => each.source === model.source && each.target === model.target).map(each => make('tr', {},
    make('td', {lang: model.source}, each.q), make('td', {lang: model.target}, each.s), make('td', {class: 'faint'}, each.time.slice(0, 10)),
    make('td', {}, make('button', {type: 'button', 'aria-label': `look at ${each.s}`, onclick: () => lookAt(each)}, 'Look'))));
  $('suggestions').hidden = false;
  $('suggested').replaceChildren(rows.length ? tabled(['sentence', 'suggestion', 'on', 'see'], rows) : make('p', {class: 'faint'}, 'no suggestions'));
}

async function lookAt({q, s}) {
  const current = latest(lookAt);
  $('text').value = q;
  await translate();
  const card = $('sentences').firstChild;
  if (!card || $('text').value !== q) return; // somebody typed meanwhile
  if (card.panel.hidden) await toggle(card);
  const better = card.panel.querySelector('[aria-label="Better translation"]');
  if (!better || !card.isConnected || !current()) return;
  better.value = s;
  better.focus();
}

// Phrases that the output must have, or must not have.
function phrases(card, name, title) {
  const now = card.edited?.[name] || [];
  const input = make('input', {type: 'text', lang: card.model.target, 'aria-label': title});
  const given = list => edit(card, {[name]: list.length ? list : null});
  const chips = now.map(phrase => make('button', {type: 'button', class: 'chip', 'aria-label': `remove ${phrase}`,
    onclick: () => given(now.filter(each => each !== phrase))}, `${phrase} ×`));
  return make('form', {class: 'tools', onsubmit: event => {
    event.preventDefault();
    if (input.value.trim()) given([...now, input.value.trim()]);
  }}, make('span', {}, title), input, make('button', {}, 'Apply'), ...chips);
}

// Each question has a part of the page of its own, which the next one replaces: a late answer is not seen.
function say_in(box, work) {
  const own = make('div', {}, make('p', {class: 'faint'}, 'asking …'));
  box.replaceChildren(own);
  return work(own).catch(error => own.replaceChildren(make('p', {class: 'bad'}, error.message)));
}

// Why: the rules behind the words, how close others came, and where in the training text they are from.
function why(card) {
  const box = make('div');
  const ask_why = () => say_in(box, async own => {
    const found = await (await ask('v1/why', {q: card.source, model: card.model.name})).json();
    const rows = found.reasons.map(reason => make('tr', {},
      make('td', {}, reason.words.map(place => found.tokens[place] ?? '').join(' ')),
      make('td', {}, `${reason.source} → ${reason.target}`),
      make('td', {class: 'number'}, reason.probability === null ? '' : reason.probability.toPrecision(2)),
      make('td', {}, reason.margin === null ? 'no other' : `${reason.margin.toFixed(2)} over “${reason.runner_up}”`),
      make('td', {}, reason.examples ? examples(reason.examples) : '')));
    own.replaceChildren(tabled(['words', 'rule', 'p', 'margin', 'sentence pairs'], rows));
    if (!found.reasons.some(reason => reason.examples)) {
      own.append(make('p', {class: 'faint'}, 'The model does not know the sentence pairs of its rules: it was trained without provenance.'));
    }
    if (found.text !== card.best.text) own.prepend(make('p', {class: 'faint'}, `Without your changes: ${found.text}`));
  });
  return make('div', {}, make('div', {class: 'tools'}, make('button', {type: 'button', onclick: ask_why}, 'Why?')), box);
}

function examples(found) {
  const marked = (list, marks) => list.flatMap((word, place) => [marks.includes(place) ? make('mark', {}, word) : word, ' ']);
  const shown = found.examples.map(one => make('p', {class: 'faint'}, `${one.pair}: `,
    ...marked(one.source, one.source_marks), make('br'), ...marked(one.target, one.target_marks)));
  return make('details', {}, make('summary', {}, `${found.pairs} ${found.pairs === 1 ? 'pair' : 'pairs'}`), ...shown);
}

// Why not: another translation is forced; the features that it loses by, or the rule that it would need.
function whyNot(card) {
  const box = make('div');
  const input = make('input', {type: 'text', lang: card.model.target, 'aria-label': 'Why not this translation'});
  const submit = event => {
    event.preventDefault();
    if (!input.value.trim()) return;
    say_in(box, async own => {
      const {instead} = await (await ask('v1/why', {q: card.source, model: card.model.name, instead: input.value, examples: 0})).json();
      if (instead.score === null) {
        own.replaceChildren(make('p', {}, 'No rules give this. It would take the rule ', make('code', {}, instead.missing.replace('|||', '→'))));
        return;
      }
      const rows = instead.losses.map(({feature, loss}) => make('tr', {}, make('td', {}, feature), make('td', {class: 'number'}, loss.toFixed(3))));
      const total = instead.losses.reduce((sum, {loss}) => sum + loss, 0);
      const text = instead.search_error ? `It scores ${(-total).toFixed(3)} more: the search missed it.` : `It scores ${total.toFixed(3)} less:`;
      own.replaceChildren(make('p', {}, text), tabled(['feature', 'loses'], rows));
    });
  };
  return make('div', {}, make('form', {class: 'tools', onsubmit: submit}, make('span', {}, 'Why not'), input, make('button', {}, 'Ask')), box);
}

function tabled(names, rows) {
  const head = make('tr', {}, ...names.map(text => make('th', {scope: 'col'}, text)));
  const table = make('table', {class: 'competing'}, make('thead', {}, head), make('tbody', {}, ...rows));
  const box = make('div');
  box.append(table);
  wide(table);
  return box;
}

function wide(table) {
  const box = make('div', {class: 'wide', tabindex: 0, role: 'group', 'aria-label': 'table'});
  table.replaceWith(box);
  box.append(table);
  return box;
}

// The tree of a forest's picture that is strong, as nested lists.
function picked(forest, found) {
  const edges = [...forest.querySelectorAll('g.edge.strong')];
  const below = new Set(edges.flatMap(edge => edge.dataset.tails.split(' ')));
  const by = new Map(edges.map(edge => [edge.dataset.head, edge]));
  const label = node => forest.querySelector(`text[data-node="${node}"]`).textContent;
  const build = node => by.has(node) ? [label(node), ...by.get(node).dataset.tails.split(' ').map(build)] : found.words[Number(node)];
  return build(edges.map(edge => edge.dataset.head).find(head => !below.has(head)));
}

// By span, the rules that competed. Their counts are looked up when the table is opened.
function competing(card, found) {
  const box = make('details', {}, make('summary', {}, 'Competing rules'));
  const tried = make('div'), rows = [], cells = new Map();
  const source = words(card.source, card.best.source_spans);
  const shown = (value, digits) => value === undefined ? '' : Number(value.toPrecision(digits)).toString();
  for (const {span, rules, left_out: more} of found.competing) {
    rules.forEach((rule, number) => {
      const [label, left, right] = rule.rule.split(' ||| ');
      const count = make('td', {class: 'number'}), sides = `${left} ||| ${right}`;
      cells.set(sides, [...cells.get(sides) || [], count]);
      const known = 'rule_penalty' in rule.features;
      const p = name => known ? shown(Math.exp(rule.features[name] || 0), 2) : '';
      const others = Object.entries(rule.features).filter(([name, value]) => value && !name.startsWith('p_'));
      rows.push(make('tr', {class: number ? '' : 'first'},
        make('td', {}, number ? '' : source.slice(...span).join(' ') || found.words.slice(...span).join(' ')),
        make('td', {class: 'number'}, rule.lost ? `−${rule.lost.toFixed(2)}` : 'best'),
        make('td', {}, `${left} → ${right} `, make('span', {class: 'faint'}, label)),
        count, make('td', {class: 'number'}, p('p_target_given_source')), make('td', {class: 'number'}, p('p_source_given_target')),
        make('td', {}, known ? make('button', {type: 'button', 'aria-label': `forbid ${left} → ${right}`,
          onclick: () => tryRule(card, tried, {action: 'forbid', source: left, target: right})}, 'Forbid') : ''),
        make('td', {class: 'faint'}, others.map(([name, value]) => `${name} ${value.toPrecision(3)}`).join(', '))));
    });
    if (more) rows.push(make('tr', {}, make('td'), make('td'), make('td', {class: 'faint'}, `and ${more} more`), ...Array.from({length: 5}, () => make('td'))));
  }
  box.append(tried, tabled(['words', 'loses by', 'rule', 'count', 'p(target)', 'p(source)', 'change', 'other features'], rows));
  box.querySelector('.wide').classList.add('tall');
  box.addEventListener('toggle', async () => {
    if (!box.open || box.counted || !cells.size) return;
    box.counted = true;
    try {
      const {rules} = await (await ask('v1/rules', {model: card.model.name, sides: [...cells.keys()].slice(0, 1000), most: 1000})).json();
      const counts = new Map();
      for (const {source: left, target: right, values} of rules)
        counts.set(`${left} ||| ${right}`, (counts.get(`${left} ||| ${right}`) || 0) + (values.occurrences ?? values.count));
      for (const [sides, list] of cells) for (const cell of list) cell.textContent = counts.get(sides)?.toLocaleString('en') ?? '';
      box.dataset.counted = counts.size;
    } catch { /* a model without its rules beside it has no counts to show */ }
  });
  return box;
}

function sliders(card, found) {
  const box = make('div', {class: 'weights'});
  const own = card.model.weights;
  for (const [name, value] of Object.entries(found.weights)) {
    const reach = Math.max(1, 2 * Math.abs(own[name]));
    const shown = make('span', {class: 'faint'}, value.toFixed(3));
    const slider = make('input', {type: 'range', min: own[name] - reach, max: own[name] + reach, step: reach / 100, value,
      oninput: () => { shown.textContent = Number(slider.value).toFixed(3); },
      onchange: () => edit(card, {weights: {...card.edited?.weights, [name]: Number(slider.value)}})});
    box.append(make('label', {}, make('span', {}, name), shown, slider));
  }
  return make('details', {}, make('summary', {}, 'Weights'), box);
}

const busy = on => $('sentences').setAttribute('aria-busy', on);

function schedule() {
  busy(true);
  clearTimeout(waiting);
  waiting = setTimeout(translate, WAIT);
}

function chooseModel() {
  const model = chosen();
  $('source').textContent = model.source_name;
  $('target').textContent = model.target_name;
  $('text').lang = model.source;
  $('translation').lang = model.target;
  const before = $('other').value;
  const others = models.filter(each => each !== model && each.source === model.source && each.target === model.target);
  $('other').replaceChildren(make('option', {value: ''}, 'nothing'), make('option', {value: ITSELF}, 'itself, without changes'),
    ...others.map(each => make('option', {value: each.name}, each.name)));
  $('other').value = before === ITSELF || others.some(each => each.name === before) ? before : '';
  const rules = model.on_demand ? 'rules on demand' : `${model.rules.toLocaleString('en')} rules`;
  $('about').textContent = `${model.name} · ${model.kind} · ${rules} · version ${model.digest}`;
}

const showLists = () => Promise.all([showGlossary(), showCorrections(), showSuggestions()].map(shown => shown.catch(error => say(error.message, true))));

async function begin(again = false) {
  const wanted = address();
  if (wanted.get('key')) sessionStorage.setItem('key', wanted.get('key'));
  try {
    ({models} = await (await ask('v1/models')).json());
  } catch (error) {
    return say(error.message, true);
  }
  $('model').replaceChildren(...models.map(model => make('option', {}, model.name)));
  if (models.some(model => model.name === wanted.get('model'))) $('model').value = wanted.get('model');
  chooseModel();
  if (wanted.get('with')) $('other').value = wanted.get('with');
  try { edits = Object(JSON.parse(wanted.get('edits') || '{}')); } catch { edits = {}; }
  $('text').value ||= wanted.get('q') || ''; // somebody may have typed already
  await showLists();
  if (again) return translate();
  $('text').addEventListener('input', schedule);
  $('model').addEventListener('change', () => { $('sentences').replaceChildren(); edits = {}; chooseModel(); showLists(); translate(); });
  $('other').addEventListener('change', () => { for (const card of $('sentences').children) card.others.replaceChildren(); translate(); });
  $('copy').addEventListener('click', async () => {
    await navigator.clipboard.writeText($('translation').textContent);
    say('copied');
  });
  await translate();
  if (wanted.get('digest') && wanted.get('digest') !== chosen().digest)
    say('This link was made with another version of the model; translations may differ.', true);
}

begin();
