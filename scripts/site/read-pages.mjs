/** Reads the Markdown pages of the repository for the site: their HTML, headings and the sections that the search finds. */
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix, relative } from 'node:path'
import MarkdownIt from 'markdown-it'

/** The map of the documents; its groups are the navigation. */
export const MAP = 'docs/README.md'
const TOP_LEVEL = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md']

const PICTURE = /\.(?:svg|png)$/
const EXTERNAL = /^(?:https?:|mailto:)/

const markdown = new MarkdownIt({ html: false, linkify: false })
const { escapeHtml } = markdown.utils
markdown.renderer.rules.table_open = () => '<div class="table"><table>\n'
markdown.renderer.rules.table_close = () => '</table></div>\n'
markdown.renderer.rules.fence = (tokens, index) => {
  const { info, content } = tokens[index]
  // The prompt is in the style sheet, so that nobody copies it.
  const html = info === 'console' ? escapeHtml(content).replace(/^\$ (.*)$/gm, '<b class="command">$1</b>') : escapeHtml(content)
  return `<pre class="${escapeHtml(info)}"><code>${html}</code></pre>\n`
}

/** The anchor of a heading, as GitHub makes it; `used` has those before it on the page. */
function anchorOf(title, used) {
  const base = title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
    .replaceAll(' ', '-')
  let anchor = base
  for (let count = 1; used.has(anchor); count += 1) anchor = `${base}-${count}`
  used.add(anchor)
  return anchor
}

/** The text of tokens without marks. */
const textOf = (tokens) =>
  tokens
    .map(({ type, content, children }) =>
      children ? textOf(children) : /^(?:text|code_inline|fence|code_block)$/.test(type) ? content : ' ',
    )
    .join('')

/** The name of the page in the site. The start page of a folder is its README.md. */
const outputOf = (path) => path.replace(/(^|\/)README\.md$/, '$1index.html').replace(/\.md$/, '.html')

/**
 * Reads all pages, and follows their links to other files of the repository, which become pages of the site, too.
 * @param {string} root the repository
 * @returns {{ pages: Map<string, object>, pictures: Set<string>, problems: string[] }} the pages by their paths; the pictures that they show; dead links, one line each
 */
export function readPages(root) {
  const documents = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name.replaceAll('\\', '/')}`)
  const pages = new Map()
  const pictures = new Set()
  const problems = []
  const links = []
  for (const path of [...TOP_LEVEL, ...documents.sort()]) addPage(path)
  for (const { from, to, anchor } of links)
    if (anchor && !pages.get(to).anchors.has(anchor)) problems.push(`${from}: ${to} has no heading #${anchor}`)
  return { pages, pictures, problems }

  function addPage(path) {
    if (pages.has(path)) return
    pages.set(path, undefined) // It may link to itself.
    pages.set(path, readText(path, readFileSync(join(root, path), 'utf8')))
  }

  function readText(path, text) {
    // Comments mark what a script writes.
    const tokens = markdown.parse(text.replaceAll(/^<!--.*?-->\n/gms, ''), {})
    const page = { path, output: outputOf(path), title: path, anchors: new Set(), headings: [], sections: [] }
    let section
    tokens.forEach((token, index) => {
      if (token.type === 'heading_open') {
        const title = textOf([tokens[index + 1]]).trim()
        const anchor = anchorOf(title, page.anchors)
        token.attrSet('id', anchor)
        if (token.tag === 'h1') page.title = title
        else page.headings.push({ level: Number(token.tag.slice(1)), title, anchor })
        section = { title, anchor: token.tag === 'h1' ? '' : anchor, text: '' }
        page.sections.push(section)
      } else if (section && tokens[index - 1]?.type !== 'heading_open') section.text += `${textOf([token])} `
      for (const child of token.children ?? []) followLink(path, child)
    })
    for (const one of page.sections) one.text = one.text.replaceAll(/\s+/g, ' ').trim()
    page.html = markdown.renderer.render(tokens, markdown.options, {})
    return page
  }

  function followLink(from, token) {
    const attribute = { link_open: 'href', image: 'src' }[token.type]
    if (!attribute) return
    const href = token.attrGet(attribute)
    if (EXTERNAL.test(href)) return
    const [file, anchor = ''] = href.split('#')
    let to = file === '' ? from : posix.normalize(posix.join(posix.dirname(from), decodeURI(file)))
    if (to.startsWith('..') || !existsSync(join(root, to))) {
      problems.push(`${from}: there is no ${to}`)
      return
    }
    const isFolder = lstatSync(join(root, to)).isDirectory()
    if (isFolder) to = posix.join(to, 'README.md')
    if (PICTURE.test(to)) {
      pictures.add(to)
      return
    }
    if (isFolder && !existsSync(join(root, to))) {
      if (!pages.has(to)) pages.set(to, pageOfFolder(posix.dirname(to)))
    } else if (to.endsWith('.md')) {
      links.push({ from, to, anchor })
      addPage(to)
    } else if (!pages.has(to)) pages.set(to, pageOfFile(to))
    const output = pages.get(to)?.output ?? outputOf(to)
    token.attrSet(attribute, relativeLink(outputOf(from), output) + (anchor && `#${anchor}`))
  }

  /** The list of the files in a folder without a page of its own. */
  function pageOfFolder(path) {
    const [page, at] = [`${path}/README.md`, join(root, path)]
    const files = readdirSync(at, { withFileTypes: true }).filter((entry) => entry.isFile())
    const titles = files.map(({ name }) => [
      name,
      /^# (.+)$/m.exec(name.endsWith('.md') ? readFileSync(join(at, name), 'utf8') : '')?.[1] ?? name,
    ])
    return readText(page, `# ${path}\n\n${titles.map(([name, title]) => `- [${title}](${name})`).join('\n')}\n`)
  }

  /** A file that is not Markdown, shown as it is. */
  function pageOfFile(path) {
    const text = readFileSync(join(root, path), 'utf8')
    const html = `<h1>${path}</h1>\n<pre><code>${escapeHtml(text)}</code></pre>\n`
    return { path, output: `${path}.html`, title: path, anchors: new Set(), headings: [], sections: [], html }
  }
}

/** The address of one file of the site as another links to it. */
export const relativeLink = (from, to) => relative(dirname(from), to).replaceAll('\\', '/') || posix.basename(to)

/** The groups of the map: `## Group`, then `- [Title](path): what the page says`. */
export function readNavigation(root) {
  const groups = []
  for (const line of readFileSync(join(root, MAP), 'utf8').split('\n')) {
    const [, group] = /^## (.+)$/.exec(line) ?? []
    if (group) groups.push({ group, entries: [] })
    const [, title, path, about] = /^- \[([^\]]+)\]\(([^)#]+)\)(?:: (.+))?/.exec(line) ?? []
    if (title && groups.length > 0)
      groups.at(-1).entries.push({ title, about, path: posix.normalize(posix.join(posix.dirname(MAP), path)) })
  }
  return groups
}
