/** The pages that people read, their headings and links. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export const ROOT = resolve(import.meta.dirname, '../..')

export const readPage = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

const below = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => `${folder}/${path.replaceAll('\\', '/')}`)

/** All pages, by path from the root of the repository. */
export const PAGES: readonly string[] = [
  ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'examples/README.md', 'templates/provider/README.md'],
  ...below('docs').sort(),
]

/** The text without its code blocks. */
const proseOf = (text: string): string => text.replace(/^( *)(`{3,})[\s\S]*?^\1\2$/gm, '')

export const headingsOf = (text: string): string[] => [...proseOf(text).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => title)

/** The anchor that GitHub and the site give a heading. */
export const anchorOf = (title: string): string =>
  title
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^a-z0-9 _-]/g, '')
    .replaceAll(' ', '-')

/** The targets of the links of a page, without those to other sites. */
export const linksOf = (text: string): string[] =>
  [
    ...proseOf(text)
      .replace(/`[^`\n]*`/g, '')
      .matchAll(/\]\(([^)\s]+)\)/g),
  ]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
