/**
 * The script of the page, for browsers. It turns the lines of a zone into a table when the zone is opened, filters, and handles keys. It writes text only
 * as text nodes, loads nothing and stores nothing. Without it the page shows the lines as they are.
 */
export const PAGE_SCRIPT = String.raw`'use strict';
(() => {
const $ = (id) => document.getElementById(id)
const all = (selector, from = document) => [...from.querySelectorAll(selector)]
const make = (name, className, text) => {
  const element = document.createElement(name)
  if (className) element.className = className
  if (text !== undefined) element.textContent = text
  return element
}
/* Without a zone in the index there is nothing to filter or to open. */
const form = $('filter')
if (!form) return
const STATES = { '!': 'failed', '?': 'unknown', '.': 'skipped' }
const COLUMNS = ['', 'name', 'TTL', 'type', 'data']

/* A line is: sign, name, TTL, type, data, notes, with tabs between them. "~-" and "~+" are the sides of an update; an empty field of "~+" is that of "~-". */
const parse = (text) => {
  const changes = []
  for (const line of text.split('\n')) {
    if (line === '') continue
    const [mark, ...fields] = line.split('\t')
    const isPair = mark[0] === '~'
    const sign = isPair ? mark[1] : mark[0]
    const state = STATES[mark[isPair ? 2 : 1]] || ''
    const row = { sign, cells: fields.slice(0, 4), notes: fields.slice(4) }
    if (isPair && sign === '+') {
      const last = changes[changes.length - 1]
      row.same = row.cells.map((cell) => cell === '')
      row.cells = row.cells.map((cell, index) => cell || last.rows[0].cells[index])
      last.rows.push(row)
      last.text += ' ' + fields.join(' ').toLowerCase()
      continue
    }
    changes.push({ action: isPair ? 'update' : sign === '+' ? 'create' : 'delete', state, type: fields[2] || 'zone', rows: [row], text: fields.join(' ').toLowerCase() })
  }
  return changes
}

const zones = all('details[data-zone]').map((element) => {
  const pre = element.querySelector('pre')
  let changes = null
  return {
    element,
    name: element.dataset.zone,
    owner: element.closest('section').dataset.owner,
    problem: element.dataset.problem || '',
    head: element.textContent.slice(0, element.textContent.length - (pre ? pre.textContent.length : 0)).toLowerCase(),
    pre,
    table: null,
    shown: null,
    get changes() { return (changes ||= pre ? parse(pre.textContent) : []) },
  }
})
const plain = all('li[data-zone]').map((element) => ({ element, name: element.dataset.zone, owner: element.dataset.owner, text: element.textContent.toLowerCase() }))

/* Splits data into words and the characters between them, and marks the words that are on one side only. */
const LIMIT = 160
const words = (text) => text.match(/[A-Za-z0-9]+|[^A-Za-z0-9]/g) || []
const marked = (before, after) => {
  let [a, b] = [words(before), words(after)]
  if (a.length > 2000 || b.length > 2000 || (a.length === 1 && b.length === 1 && before.length > 12)) [a, b] = [[...before], [...after]]
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1
  let end = 0
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1
  const [x, y] = [a.slice(start, a.length - end), b.slice(start, b.length - end)]
  const common = x.length * y.length > LIMIT * LIMIT ? [] : longest(x, y)
  const side = (list, middle, of) => {
    const parts = [[false, list.slice(0, start).join('')]]
    let next = 0
    middle.forEach((word, index) => {
      const kept = next < common.length && common[next][of] === index
      if (kept) next += 1
      const last = parts[parts.length - 1]
      if (last[0] === !kept) last[1] += word
      else parts.push([!kept, word])
    })
    parts.push([false, list.slice(list.length - end).join('')])
    return parts
  }
  return [side(a, x, 0), side(b, y, 1)]
}
/* The longest common subsequence of two lists, as pairs of indexes. */
const longest = (x, y) => {
  const width = y.length + 1
  const size = new Uint16Array((x.length + 1) * width)
  for (let i = x.length - 1; i >= 0; i -= 1)
    for (let j = y.length - 1; j >= 0; j -= 1)
      size[i * width + j] = x[i] === y[j] ? size[(i + 1) * width + j + 1] + 1 : Math.max(size[(i + 1) * width + j], size[i * width + j + 1])
  const pairs = []
  for (let i = 0, j = 0; i < x.length && j < y.length; ) {
    if (x[i] === y[j]) pairs.push([i++, j++])
    else if (size[(i + 1) * width + j] >= size[i * width + j + 1]) i += 1
    else j += 1
  }
  return pairs
}

const rowOf = (change, index) => {
  const { rows, state } = change
  const row = rows[index]
  const tr = make('tr', (row.sign === '-' ? 'o' : 'n') + (index === 0 ? ' first' : '') + (state ? ' left' : ''))
  tr.append(make('td', 'm', row.sign === '-' ? '\u2212' : '+'))
  row.cells.forEach((text, column) => {
    const same = row.same && row.same[column]
    const td = make('td', same ? 'same' : '')
    if (!same) {
      const other = rows[1 - index]
      if (rows.length === 2 && (index === 1 || !rows[1].same[column])) {
        const [before, after] = marked(rows[0].cells[column], rows[1].cells[column])
        for (const [isChanged, part] of other === rows[0] ? after : before) if (part) td.append(isChanged ? make('b', '', part) : part)
      } else td.textContent = text
    }
    tr.append(td)
  })
  const data = tr.lastChild
  for (const note of row.notes) {
    data.classList.remove('same')
    data.append(make('span', /^(failed|unknown)/.test(note) ? 'note error' : 'note', note))
  }
  return tr
}
const build = (zone) => {
  if (zone.table || !zone.pre) return
  const table = make('table')
  const head = make('tr')
  for (const title of COLUMNS) {
    const th = make('th', '', title)
    th.scope = 'col'
    head.append(th)
  }
  table.append(make('thead'), make('tbody'))
  table.tHead.append(head)
  for (const change of zone.changes) {
    change.trs = change.rows.map((_, index) => rowOf(change, index))
    table.tBodies[0].append(...change.trs)
  }
  zone.table = table
  zone.pre.replaceWith(table)
  mark(zone)
}
const mark = (zone) => {
  if (zone.table) for (const change of zone.changes) for (const tr of change.trs) tr.hidden = zone.shown !== null && !zone.shown.has(change)
}

const fields = ['text', 'zone', 'owner', 'type', 'action'].map((id) => $(id))
const [textField, , , , actionField] = fields
const value = (field) => (field ? field.value.trim() : '')
const filter = () => {
  const [text, name, owner, type, action] = fields.map(value)
  const [wanted, nameWanted] = [text.toLowerCase(), name.toLowerCase()]
  const ofRows = type !== '' || action !== ''
  let shownZones = 0
  let shownChanges = 0
  let changes = 0
  for (const zone of zones) {
    changes += zone.changes.length
    let visible = zone.name.includes(nameWanted) && (owner === '' || zone.owner === owner)
    zone.shown = null
    if (visible && (ofRows || wanted !== '')) {
      const byZone = action === zone.problem && action !== ''
      const inHead = zone.head.includes(wanted)
      const found = zone.changes.filter((change) =>
        (type === '' || change.type === type) && (action === '' || byZone || change.action === action || change.state === action) && (inHead || change.text.includes(wanted)))
      visible = found.length > 0 || (type === '' && (action === '' || byZone) && inHead)
      if (found.length < zone.changes.length && visible) zone.shown = new Set(found)
    }
    zone.element.hidden = !visible
    if (visible) {
      shownZones += 1
      shownChanges += zone.shown === null ? zone.changes.length : zone.shown.size
    }
    mark(zone)
  }
  let shownPlain = 0
  for (const zone of plain) {
    const visible = !ofRows && zone.name.includes(nameWanted) && (owner === '' || zone.owner === owner) && zone.text.includes(wanted)
    zone.element.hidden = !visible
    if (visible) shownPlain += 1
  }
  for (const section of all('section[data-owner]')) section.hidden = !section.querySelector('details[data-zone]:not([hidden])')
  for (const figure of all('li[data-show]')) figure.firstChild.ariaPressed = String(action === figure.dataset.show)
  const rest = $('rest')
  if (rest) rest.hidden = shownPlain === 0
  const isFiltered = fields.some((field) => value(field) !== '')
  const count = (number) => number.toLocaleString('en')
  $('shown').textContent = (isFiltered ? count(shownZones + shownPlain) + ' of ' : '') + form.dataset.zones +
    (changes === 0 ? '' : ', ' + (isFiltered ? count(shownChanges) + ' of ' : '') + count(changes) + ' ' + form.dataset.noun) + (isFiltered ? '. Esc clears the filter.' : '')
}
let pending = 0
const schedule = () => {
  cancelAnimationFrame(pending)
  pending = requestAnimationFrame(filter)
}
const clear = () => {
  for (const field of fields) if (field) field.value = ''
  filter()
}
const setOpen = (open) => {
  for (const zone of zones) if (!zone.element.hidden) zone.element.open = open
}

/* "toggle" does not bubble. */
for (const zone of zones) zone.element.addEventListener('toggle', () => zone.element.open && build(zone))
form.addEventListener('input', schedule)
form.addEventListener('submit', (event) => event.preventDefault())
$('open').addEventListener('click', () => setOpen(true))
$('close').addEventListener('click', () => setOpen(false))
const summaries = () => all('summary').filter((summary) => summary.offsetParent !== null)
const move = (step) => {
  const list = summaries()
  const at = list.indexOf(document.activeElement)
  const next = list[at === -1 ? (step > 0 ? 0 : list.length - 1) : Math.max(0, Math.min(list.length - 1, at + step))]
  if (next) next.focus()
}
addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  const inField = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)
  const { key } = event
  if (key === 'Escape') clear()
  else if (inField && !(key === 'ArrowDown' && document.activeElement.tagName === 'INPUT')) return
  else if (key === '/') textField.focus()
  else if (key === 'ArrowDown' || key === 'j') move(1)
  else if (key === 'ArrowUp' || key === 'k') move(-1)
  else if (key === 'o') setOpen(true)
  else if (key === 'c') setOpen(false)
  else return
  event.preventDefault()
})
let closed = []
addEventListener('beforeprint', () => {
  closed = zones.filter(({ element }) => !element.open && !element.hidden)
  for (const zone of zones) if (!zone.element.hidden) build(zone)
  for (const { element } of closed) element.open = true
})
addEventListener('afterprint', () => {
  for (const { element } of closed) element.open = false
})
const target = () => {
  let name = ''
  try {
    name = decodeURIComponent(location.hash.slice(1))
  } catch {}
  const zone = name === '' ? undefined : zones.find((one) => one.name === name)
  if (!zone) return
  zone.element.open = true
  zone.element.scrollIntoView()
  zone.element.querySelector('summary').focus({ preventScroll: true })
}
addEventListener('hashchange', target)
/* A figure shows only what it counts; again, everything. */
for (const figure of all('li[data-show]')) {
  const button = make('button')
  button.type = 'button'
  button.ariaPressed = 'false'
  button.append(...figure.childNodes)
  figure.append(button)
  button.addEventListener('click', () => {
    actionField.value = actionField.value === figure.dataset.show ? '' : figure.dataset.show
    filter()
  })
}
form.hidden = false
$('keys').hidden = false
filterLater()
/* The sections are open if they fit on the screen. */
if (location.hash === '' && zones.reduce((sum, { pre }) => sum + (pre ? pre.textContent.length : 0), 0) < 10_000 && zones.length < 50) {
  zones.forEach(build)
  document.body.className = 'measured'
  setOpen(true)
  if (document.querySelector('main').getBoundingClientRect().bottom > innerHeight) setOpen(false)
  document.body.className = ''
}
target()
/* Counts at once from the page; the lines are parsed when a filter is used. */
function filterLater() {
  $('shown').textContent = form.dataset.counts
  if (fields.some((field) => value(field) !== '')) filter()
}
})()
`
