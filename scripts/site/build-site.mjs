/**
 * `npm run site [-- FOLDER]`: makes a site of README.md, docs/ and what they link to, in `site/` or the folder. It needs no server and no network: open
 * `index.html`. Dead links and pages that no other leads to are errors, one line each, and then nothing is written.
 */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MAP, readNavigation, readPages, relativeLink } from './read-pages.mjs'

const here = import.meta.dirname
const MINISEARCH = join(dirname(createRequire(import.meta.url).resolve('minisearch')), '../..')
/** Every site has this file. */
const SECTIONS = 'site/sections.js'
const quote = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

/**
 * Writes the site.
 * @param {string} root the repository
 * @param {string} out the folder of the site, which is replaced; other folders with files are refused
 * @returns {{ pages: number, problems: string[] }}
 */
export function buildSite(root, out) {
  const { pages, pictures, problems } = readPages(root)
  const groups = readNavigation(root)
  if (problems.length === 0) problems.push(...unreachable(pages, groups))
  if (existsSync(out) && readdirSync(out).length > 0 && !existsSync(join(out, SECTIONS)))
    problems.push(`${out}: this folder has other files than those of a site; name a new folder`)
  if (problems.length > 0) return { pages: pages.size, problems }
  mkdirSync(dirname(out), { recursive: true })
  const fresh = mkdtempSync(join(dirname(out), `.${basename(out)}-`))
  try {
    const write = (path, text) => {
      mkdirSync(dirname(join(fresh, path)), { recursive: true })
      writeFileSync(join(fresh, path), text)
    }
    for (const page of pages.values()) write(page.output, documentOf(page, pages, groups))
    write(SECTIONS, `window.SECTIONS = ${JSON.stringify(sectionsOf(pages, groups))}\n`)
    for (const file of ['site.css', 'site.js', 'search.js']) write(`site/${file}`, readFileSync(join(here, file)))
    write('site/minisearch.js', readFileSync(join(MINISEARCH, 'dist/umd/index.js'), 'utf8').replace(/\n\/\/# source.*\n?$/, '\n'))
    write('site/minisearch.LICENSE.txt', readFileSync(join(MINISEARCH, 'LICENSE.txt')))
    for (const path of pictures) {
      mkdirSync(dirname(join(fresh, path)), { recursive: true })
      copyFileSync(join(root, path), join(fresh, path))
    }
    chmodSync(fresh, 0o755)
    rmSync(out, { recursive: true, force: true })
    renameSync(fresh, out)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
  return { pages: pages.size, problems }
}

/** Pages that no link leads to. */
function unreachable(pages, groups) {
  const reached = new Set(['README.md', MAP, ...groups.flatMap(({ entries }) => entries.map(({ path }) => path))])
  const byOutput = new Map([...pages.values()].map((page) => [page.output, page.path]))
  for (const path of reached) {
    const page = pages.get(path)
    for (const [, href] of page?.html.matchAll(/<a href="([^"#:]+)/g) ?? []) {
      const target = byOutput.get(resolve('/', dirname(page.output), href).slice(1))
      if (target) reached.add(target)
    }
  }
  return [...pages.keys()].filter((path) => !reached.has(path)).map((path) => `${path}: no page leads here`)
}

/** What the search finds. The first section of a page has the words of the map about it, too. */
function sectionsOf(pages, groups) {
  const entries = new Map(groups.flatMap((group) => group.entries.map((entry) => [entry.path, entry])))
  const list = []
  for (const { path, output, title, sections } of pages.values())
    for (const { anchor, ...section } of sections) {
      const { title: name = '', about = '' } = (anchor === '' && entries.get(path)) || {}
      list.push({ id: list.length, page: title, href: output + (anchor && `#${anchor}`), about: `${name} ${about}`, ...section })
    }
  return list
}

function documentOf(page, pages, groups) {
  const to = (output) => relativeLink(page.output, output)
  const link = ({ title, path }) => {
    const { output } = pages.get(path)
    return `<li><a href="${to(output)}"${path === page.path ? ' aria-current="page"' : ''}>${quote(title)}</a></li>`
  }
  const navigation = groups.map(({ group, entries }) => `<h2>${quote(group)}</h2>\n<ul>\n${entries.map(link).join('\n')}\n</ul>`).join('\n')
  const contents = page.headings.filter(({ level }) => level === 2)
  const onThisPage =
    contents.length < 3
      ? ''
      : `<aside><h2>On this page</h2>\n<ul>\n${contents.map(({ title, anchor }) => `<li><a href="#${anchor}">${quote(title)}</a></li>`).join('\n')}\n</ul></aside>`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${quote(page.title)}${page.title === 'Zonewright' ? '' : ' – Zonewright'}</title>
<link rel="stylesheet" href="${to('site/site.css')}">
<script src="${to('site/site.js')}" data-root="${to('index.html').replace(/index\.html$/, '')}" defer></script>
</head>
<body>
<header>
<a class="home" href="${to('index.html')}">Zonewright</a>
<div class="search"><input type="search" placeholder="Search ( / )" aria-label="Search" autocomplete="off"><ol hidden></ol></div>
<button type="button" class="theme" aria-label="Light or dark">◐</button>
</header>
<nav aria-label="Documents"><details><summary>All pages</summary>
${navigation}
</details></nav>
<main>
${page.html}</main>
${onThisPage}
</body>
</html>
`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = resolve(here, '../..')
  const out = resolve(process.argv[2] ?? join(root, 'site'))
  const { pages, problems } = buildSite(root, out)
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exitCode = 1
  else console.log(`${join(out, 'index.html')}: ${pages} pages`)
}
