/** The search, light and dark, and a button that copies commands. The pages can be read without it. */
;(() => {
  const root = document.currentScript.dataset.root
  const html = document.documentElement
  const stored = () => {
    try {
      return localStorage
    } catch {
      return {} // A browser may refuse storage to files.
    }
  }
  if (stored().theme) html.dataset.theme = stored().theme
  document.querySelector('.theme').addEventListener('click', () => {
    const isDark =
      getComputedStyle(html).colorScheme === 'dark' || (!html.dataset.theme && matchMedia('(prefers-color-scheme: dark)').matches)
    html.dataset.theme = isDark ? 'light' : 'dark'
    stored().theme = html.dataset.theme
  })

  const pages = document.querySelector('nav details')
  if (matchMedia('(min-width: 60rem)').matches) pages.open = true
  document.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest' })

  for (const block of document.querySelectorAll('pre')) {
    const commands = block.querySelectorAll('.command')
    const text = commands.length > 0 ? [...commands].map((one) => one.textContent).join('\n') : block.textContent
    const button = document.createElement('button')
    button.type = 'button'
    button.textContent = 'Copy'
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(text.trimEnd())
      button.textContent = 'Copied'
      setTimeout(() => (button.textContent = 'Copy'), 2000)
    })
    const box = document.createElement('div')
    box.className = 'code'
    block.replaceWith(box)
    box.append(block, button)
  }

  const input = document.querySelector('.search input')
  const list = document.querySelector('.search ol')
  let searching
  const load = (file) =>
    new Promise((resolve, reject) => {
      const script = document.createElement('script')
      script.src = `${root}site/${file}`
      script.onload = resolve
      script.onerror = reject
      document.head.append(script)
    })
  const makeSearch = async () => {
    await Promise.all(['minisearch.js', 'sections.js', 'search.js'].map(load))
    return window.makeSearch(window.SECTIONS)
  }

  const show = async () => {
    const query = input.value.trim()
    searching ??= makeSearch()
    const search = await searching
    if (query !== input.value.trim()) return
    const found = query === '' ? [] : search(query)
    list.hidden = query === ''
    list.replaceChildren(...found.map((one) => entryOf(one)))
    if (query !== '' && found.length === 0) list.append(Object.assign(document.createElement('li'), { textContent: 'Nothing found' }))
  }
  const entryOf = ({ href, page, title, text, terms }) => {
    const link = document.createElement('a')
    link.href = root + href
    const place = Math.max(0, text.toLowerCase().indexOf(terms[0] ?? '') - 40)
    const heading = document.createElement('b')
    heading.textContent = title === page ? page : `${page} › ${title}`
    link.append(heading, ` ${place > 0 ? '…' : ''}${text.slice(place, place + 140)}`)
    const entry = document.createElement('li')
    entry.append(link)
    return entry
  }
  input.addEventListener('input', show)
  addEventListener('keydown', (event) => {
    if (event.key === '/' && !/^(?:INPUT|TEXTAREA)$/.test(event.target.tagName)) {
      event.preventDefault()
      input.focus()
    }
    if (event.key === 'Escape') {
      input.value = ''
      list.hidden = true
    }
    if (event.key === 'Enter' && event.target === input) list.querySelector('a')?.click()
    const links = [...list.querySelectorAll('a')]
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (!step || list.hidden || links.length === 0) return
    const at = links.indexOf(document.activeElement)
    if (at < 0 && event.target !== input) return
    event.preventDefault()
    ;(links[at + step] ?? input).focus()
  })
  addEventListener('click', (event) => {
    if (!event.target.closest('.search')) list.hidden = true
  })
})()
